package diagram

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Sizes of fonts and limits of texts, in pixels.
const (
	font      = 12
	smallFont = 11
	titleFont = 15 // drawn as 13 pixels, bold
	maxTitle  = 560
	maxName   = 260
	maxType   = 320
	maxLabel  = 160
	maxLegend = 900
	arrowHead = 8
	corner    = 5 // radius
)

// style has the colours for light and dark surroundings. Classes begin with cd- since pages may contain the picture.
const style = `<style>
.cd text{font:12px "Helvetica Neue",Helvetica,Arial,"DejaVu Sans","Noto Sans",sans-serif;fill:#1f2933}
.cd .cd-page{fill:#fff}
.cd .cd-frame{fill:#f6f8fa;stroke:#8a97a6;stroke-dasharray:5 3}
.cd .cd-box{fill:#fff;stroke:#3e4c59}
.cd .cd-title{fill:#d9e7f5;stroke:#3e4c59}
.cd .cd-type .cd-title{fill:#e7e3f3}
.cd .cd-line{stroke:#e1e7ec}
.cd .cd-arrow{fill:none;stroke:#1f5f99;stroke-width:1.4}
.cd .cd-head{fill:#1f5f99}
.cd text.cd-name{font-size:13px;font-weight:bold}
.cd text.cd-small{font-size:11px}
.cd text.cd-label{font-size:11px;font-weight:bold;fill:#1f5f99}
.cd text.cd-quiet{fill:#55626f}
@media (prefers-color-scheme:dark){
.cd text{fill:#e4e9ee}
.cd .cd-page{fill:#16191d}
.cd .cd-frame{fill:#1c2127;stroke:#6b7885}
.cd .cd-box{fill:#22282f;stroke:#8a97a6}
.cd .cd-title{fill:#2c4258;stroke:#8a97a6}
.cd .cd-type .cd-title{fill:#3d3755}
.cd .cd-line{stroke:#343c45}
.cd .cd-arrow{stroke:#7db8ee}
.cd .cd-head{fill:#7db8ee}
.cd text.cd-label{fill:#7db8ee}
.cd text.cd-quiet{fill:#a5b1bd}
}
</style>
`

// SVG writes the diagram as a picture. It has no scripts and needs no other file. The group of a table has its keyspace
// and name in the attribute data-table.
func SVG(w io.Writer, d *Diagram) error {
	l := newLayout(d)
	var b strings.Builder
	legend := d.legend()
	width, names := max(l.width, 480), 0
	for _, one := range legend {
		names = max(names, textPixels(one.name, font)+cellGap)
	}
	for _, one := range legend {
		width = max(width, 2*margin+names+min(textPixels(one.text, font), maxLegend))
	}
	height := l.height + len(legend)*lineHeight + margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="cd" role="img" width="%[1]d" height="%[2]d" `+
		`viewBox="0 0 %[1]d %[2]d">`+"\n<title>%[3]s</title>\n", width, height, escape(d.summary()))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="cd-page" width="%d" height="%d"/>`+"\n", width, height)
	if !d.logical {
		for i, f := range d.frames {
			fmt.Fprintf(&b, `<rect class="cd-frame" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", margin, l.tops[i],
				l.width-2*margin, l.bottoms[i]-l.tops[i])
			name := cut("keyspace "+clean(f.keyspace), l.width-2*margin-2*framePad, smallFont)
			text(&b, margin+framePad, l.tops[i]+21, "cd-small cd-quiet", name)
		}
	}
	for _, a := range l.arrows {
		l.drawArrow(&b, a)
	}
	for _, one := range l.boxes {
		one.draw(&b)
	}
	y := l.height + 4
	for _, one := range legend {
		x := margin
		if one.name != "" {
			text(&b, x, y, "cd-label", one.name)
			x += names
		}
		text(&b, x, y, "", cut(one.text, width-margin-x, font))
		y += lineHeight
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes a text. y is the height of its base line.
func text(b *strings.Builder, x, y int, class, s string) {
	if s == "" {
		return
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d"%s>%s</text>`+"\n", x, y, class, escape(s))
}

var escaping = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// escape makes a text safe as content and as an attribute.
func escape(s string) string { return escaping.Replace(clean(s)) }

// draw writes a box, with the arrow that comes from no other table.
func (one *box) draw(b *strings.Builder) {
	class, about := "cd-table", one.key
	if one.key == "" {
		class, about = "cd-type", one.title
	}
	fmt.Fprintf(b, `<g class="%s"`, class)
	if one.key != "" {
		fmt.Fprintf(b, ` data-table="%s"`, escape(one.key))
	}
	fmt.Fprintf(b, "><title>%s</title>\n", escape(about))
	fmt.Fprintf(b, `<rect class="cd-box" x="%d" y="%d" width="%d" height="%d"/>`+"\n", one.x, one.y, one.w, one.h)
	fmt.Fprintf(b, `<rect class="cd-title" x="%d" y="%d" width="%d" height="%d"/>`+"\n", one.x, one.y, one.w, titleHeight)
	title := one.shownTitle()
	text(b, one.x+boxPadding, one.y+17, "cd-name", title)
	if one.note != "" {
		text(b, one.x+boxPadding+textPixels(title, titleFont)+cellGap, one.y+17, "cd-small cd-quiet", one.shownNote())
	}
	names, types, marks := one.cells()
	x := one.x + boxPadding
	for i, c := range one.lines {
		y := one.y + titleHeight + (i+1)*lineHeight - 2
		if i > 0 {
			fmt.Fprintf(b, `<path class="cd-line" d="M%d %dh%d"/>`+"\n", one.x+4, y-14, one.w-8)
		}
		text(b, x, y, "", cut(c.name, maxName, font))
		if types > 0 {
			text(b, x+names+cellGap, y, "cd-quiet", cut(c.typ, maxType, font))
		}
		if marks > 0 {
			text(b, one.x+one.w-boxPadding-marks, y, "", c.mark)
		}
	}
	b.WriteString("</g>\n")
	if len(one.into) > 0 {
		x, y := one.x+boxPadding+4, one.y-intoHeight+4
		fmt.Fprintf(b, "<g><title>%s</title>\n", escape(explain(one.into)))
		fmt.Fprintf(b, `<path class="cd-arrow" d="M%d %dV%d"/>`+"\n", x, y, one.y-arrowHead)
		fmt.Fprintf(b, `<path class="cd-head" d="M%d %dl-4 -%dh8z"/>`+"\n", x, one.y, arrowHead)
		text(b, x+8, y+12, "cd-label", cut(labels(one.into), one.w-2*boxPadding-12, smallFont))
		b.WriteString("</g>\n")
	}
}

func (one *box) shownTitle() string { return cut(one.title, maxTitle, titleFont) }
func (one *box) shownNote() string  { return cut(one.note, maxName, smallFont) }

// drawArrow writes an arrow between two tables.
func (l *layout) drawArrow(b *strings.Builder, a *arrow) {
	points := l.corners(a)
	end := &points[len(points)-1]
	back := -1
	if a.end.right {
		back = 1
	}
	end[0] += back * arrowHead
	fmt.Fprintf(b, "<g><title>%s</title>\n", escape(explain(a.about)))
	fmt.Fprintf(b, `<path class="cd-arrow" d="%s"/>`+"\n", rounded(points))
	fmt.Fprintf(b, `<path class="cd-head" d="M%d %dl%d -4v8z"/>`+"\n", a.end.x(), a.end.y, back*arrowHead)
	x := end[0]
	if !a.end.right {
		x -= textPixels(a.label, smallFont)
	}
	text(b, x, a.end.y-5, "cd-label", a.label)
	b.WriteString("</g>\n")
}

// corners returns the ends and corners of an arrow.
func (l *layout) corners(a *arrow) (points [][2]int) {
	left, right := a.start, a.end
	if a.to.column < a.from.column {
		left, right = right, left
	}
	points = append(points, [2]int{left.x(), left.y})
	for i, p := range a.parts {
		if *p.y1 != *p.y2 {
			g := &l.gutters[min(a.from.column, a.to.column)+i]
			x := g.x + g.left + (p.track+1)*trackGap
			points = append(points, [2]int{x, *p.y1}, [2]int{x, *p.y2})
		}
	}
	points = append(points, [2]int{right.x(), right.y})
	if left == a.end {
		slices.Reverse(points)
	}
	return points
}

// x returns the horizontal place of a port.
func (p *port) x() int {
	if p.right {
		return p.box.x + p.box.w
	}
	return p.box.x
}

// rounded makes a path along points with round corners.
func rounded(points [][2]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", points[0][0], points[0][1])
	for i := 1; i < len(points)-1; i++ {
		before, at, after := points[i-1], points[i], points[i+1]
		r := min(corner, distance(before, at)/2, distance(at, after)/2)
		fmt.Fprintf(&b, "L%d %dQ%d %d %d %d", at[0]+r*sign(before[0]-at[0]), at[1]+r*sign(before[1]-at[1]), at[0], at[1],
			at[0]+r*sign(after[0]-at[0]), at[1]+r*sign(after[1]-at[1]))
	}
	last := points[len(points)-1]
	fmt.Fprintf(&b, "L%d %d", last[0], last[1])
	return b.String()
}

// distance is that of two points with the same height or horizontal place.
func distance(a, b [2]int) int {
	return max(a[0]-b[0], b[0]-a[0], a[1]-b[1], b[1]-a[1])
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
