package diagram

import (
	"cmp"
	"math"
	"slices"
)

// place is the place of a box in the layout. Tables are in columns, from left to right in the order in which clients
// read them. Frames are above each other, and each extends over all columns.
type place struct {
	column     int // -1: not yet known
	order      int // in which arrows lead to the boxes
	x, y, w, h int
}

// Distances, in pixels.
const (
	step        = 8 // sizes of boxes are multiples
	titleHeight = 24
	lineHeight  = 18
	boxPadding  = 10
	cellGap     = 14
	boxGap      = 24 // between boxes
	intoHeight  = 32 // above a box, for the arrow into it
	frameTop    = 32 // above the boxes of a frame
	framePad    = 16
	frameGap    = 24
	margin      = 16
	portGap     = 18 // between arrows at one side of a box
	trackGap    = 10 // between vertical parts of arrows
	minGutter   = 44
)

// layout places boxes and arrows.
type layout struct {
	*Diagram
	boxes   []*box
	columns []column
	gutters []gutter // gutters[i] is to the right of columns[i]
	arrows  []*arrow
	width   int
	height  int
	tops    []int // of frames
	bottoms []int
}

// column is a column of boxes: its items by frame, from top to bottom.
type column [][]*item

// item is something in a column: a box, or a part of an arrow that passes by (a lane).
type item struct {
	box    *box // nil: a lane
	column int
	y, h   int     // with the space above a box; y of a lane is that of its arrow
	at     float64 // position in the column
}

// gutter is the space between two columns.
type gutter struct {
	left, right int // width of the labels at its sides
	tracks      int
	x           int
	parts       []*part
}

// arrow is an arrow between tables.
type arrow struct {
	from, to *box
	label    string
	about    []Pattern
	start    *port
	lanes    []*item // in the order from the leftmost to the rightmost column
	end      *port
	parts    []*part // likewise, one for each gutter
}

// port is the place where an arrow touches a side of a box.
type port struct {
	box   *box
	right bool // side
	y     int
	to    int // height of the other end, to order ports
}

// part is the part of an arrow in a gutter: from the left side at height y1 to the right side at height y2. If same is
// set, both are on the left side.
type part struct {
	y1, y2 *int
	same   bool
	track  int
}

// newLayout makes the layout of a diagram.
func newLayout(d *Diagram) *layout {
	l := &layout{Diagram: d}
	byKey := map[string]*box{}
	for _, f := range d.frames {
		for _, b := range f.boxes {
			b.place = place{column: -1}
			l.boxes, byKey[b.key] = append(l.boxes, b), b
		}
	}
	type ends struct{ from, to *box }
	between := map[ends]*arrow{}
	for _, p := range d.patterns {
		if p.Table == "" || p.From == "" {
			continue
		}
		at := ends{byKey[p.From], byKey[p.Table]}
		a := between[at]
		if a == nil {
			a = &arrow{from: at.from, to: at.to}
			between[at], l.arrows = a, append(l.arrows, a)
		}
		a.about = append(a.about, p)
	}
	for _, a := range l.arrows {
		a.label = cut(labels(a.about), maxLabel, smallFont)
	}
	l.measure()
	l.assignColumns()
	l.addLanes()
	l.orderItems()
	l.fillColumns()
	l.placeItems()
	l.placePorts()
	l.assignTracks()
	l.placeColumns()
	return l
}

// measure finds the sizes of boxes.
func (l *layout) measure() {
	ports := map[*box]int{}
	for _, a := range l.arrows {
		ports[a.from]++
		ports[a.to]++
	}
	for _, b := range l.boxes {
		names, types, marks := b.cells()
		b.w = names
		for _, w := range []int{types, marks} {
			if w > 0 {
				b.w += cellGap + w
			}
		}
		title := textPixels(b.shownTitle(), titleFont)
		if b.note != "" {
			title += cellGap + textPixels(b.shownNote(), smallFont)
		}
		into := min(textPixels(labels(b.into), smallFont), maxLabel) + cellGap
		b.w = roundUp(max(b.w, title, into) + 2*boxPadding)
		b.h = roundUp(max(titleHeight+len(b.lines)*lineHeight+6, titleHeight+ports[b]*portGap))
	}
}

// cells returns the widths of the columns of a box: names, types and marks.
func (b *box) cells() (names, types, marks int) {
	for _, one := range b.lines {
		names = max(names, textPixels(cut(one.name, maxName, font), font))
		types = max(types, textPixels(cut(one.typ, maxType, font), font))
		marks = max(marks, textPixels(one.mark, font))
	}
	return names, types, marks
}

func roundUp(n int) int { return (n + step - 1) / step * step }

// assignColumns puts each table that has arrows to or from others one column to the right of the first table that leads
// to it.
func (l *layout) assignColumns() {
	next, reached := map[*box][]*box{}, map[*box]bool{}
	for _, a := range l.arrows {
		next[a.from] = append(next[a.from], a.to)
		reached[a.to] = true
	}
	var queue []*box
	order := 0
	begin := func(b *box) {
		if b.column < 0 && len(next[b]) > 0 {
			b.column = 0
			queue = append(queue, b)
		}
	}
	walk := func() {
		for ; len(queue) > 0; queue = queue[1:] {
			b := queue[0]
			b.order, order = order, order+1
			for _, to := range next[b] {
				if to.column < 0 {
					to.column = b.column + 1
					queue = append(queue, to)
				}
			}
		}
	}
	for _, a := range l.arrows { // in the order of their patterns
		if !reached[a.from] {
			begin(a.from)
		}
	}
	walk()
	for _, a := range l.arrows { // of cycles
		begin(a.from)
		walk()
	}
	columns, area, width := 1, 0, 0
	for _, b := range l.boxes {
		columns = max(columns, b.column+1)
		area += (b.w + boxGap) * (b.h + b.above() + boxGap)
		width = max(width, b.w+minGutter)
	}
	if width > 0 { // three units wide for two units high
		columns = max(columns, min(len(l.boxes), int(math.Sqrt(1.5*float64(area))/float64(width)+0.5)))
	}
	l.columns, l.gutters = make([]column, columns), make([]gutter, columns)
	for i := range l.columns {
		l.columns[i] = make(column, len(l.frames))
	}
	for f, frame := range l.frames {
		for _, b := range frame.boxes {
			if b.column >= 0 {
				in := &l.columns[b.column][f]
				*in = append(*in, &item{box: b, column: b.column, h: b.h + b.above(), at: float64(b.order)})
			}
		}
	}
}

// above returns the space that a box needs above itself.
func (b *box) above() int {
	if len(b.into) > 0 {
		return intoHeight
	}
	return 0
}

// addLanes divides each arrow into its ports, its lanes in the columns that it passes, and its parts in gutters.
func (l *layout) addLanes() {
	frameOf := map[*box]int{}
	for f, frame := range l.frames {
		for _, b := range frame.boxes {
			frameOf[b] = f
		}
	}
	for _, a := range l.arrows {
		first, last := min(a.from.column, a.to.column), max(a.from.column, a.to.column)
		a.start = &port{box: a.from, right: a.to.column >= a.from.column}
		a.end = &port{box: a.to, right: a.to.column <= a.from.column}
		for c := first + 1; c < last; c++ {
			lane := &item{column: c, h: portGap, at: float64(a.to.order)}
			in := &l.columns[c][frameOf[a.to]]
			*in = append(*in, lane)
			a.lanes = append(a.lanes, lane)
		}
		ys := []*int{&a.start.y}
		for _, lane := range a.lanes {
			ys = append(ys, &lane.y)
		}
		if a.to.column < a.from.column {
			ys[0] = &a.end.y
			ys = append(ys, &a.start.y)
		} else {
			ys = append(ys, &a.end.y)
		}
		if first == last {
			last++
		}
		for g := first; g < last; g++ {
			p := &part{y1: ys[g-first], y2: ys[g-first+1], same: a.from.column == a.to.column}
			a.parts = append(a.parts, p)
			l.gutters[g].parts = append(l.gutters[g].parts, p)
		}
		zone := &l.gutters[last-1].right
		if a.end.right {
			zone = &l.gutters[first].left
		}
		*zone = max(*zone, textPixels(a.label, smallFont)+8)
	}
}

// fillColumns puts the tables without arrows, and the types, into the columns with the most space.
func (l *layout) fillColumns() {
	for f, frame := range l.frames {
		heights := make([]int, len(l.columns))
		for c := range l.columns {
			for _, one := range l.columns[c][f] {
				heights[c] += one.h + boxGap
			}
		}
		for _, b := range frame.boxes {
			if b.column >= 0 {
				continue
			}
			b.column = slices.Index(heights, slices.Min(heights))
			in := &l.columns[b.column][f]
			*in = append(*in, &item{box: b, column: b.column, h: b.h + b.above()})
			heights[b.column] += b.h + b.above() + boxGap
		}
	}
	for len(l.columns) > 1 && !slices.ContainsFunc(l.columns[len(l.columns)-1], notEmpty) {
		l.columns = l.columns[:len(l.columns)-1]
	}
	l.gutters = l.gutters[:len(l.columns)]
}

func notEmpty(items []*item) bool { return len(items) > 0 }

// placeItems sets the heights of all items. A box is at the height of the one that leads to it if there is space.
func (l *layout) placeItems() {
	leads := map[*box]*box{}
	for _, a := range l.arrows {
		if leads[a.to] == nil && a.from.column < a.to.column {
			leads[a.to] = a.from
		}
	}
	top := margin
	for f := range l.frames {
		l.tops = append(l.tops, top)
		if !l.logical {
			top += frameTop
		}
		tallest, bottom := 0, top
		for _, c := range l.columns {
			tallest = max(tallest, heightOf(c[f]))
		}
		for _, c := range l.columns {
			y := top
			for i, one := range c[f] {
				if one.box != nil && leads[one.box] != nil {
					space := tallest - heightOf(c[f][i:])
					if i == 0 {
						space = max(space, intoHeight)
					}
					y = max(y, min(leads[one.box].y-one.box.above(), top+space))
				}
				one.y = y
				if one.box != nil {
					one.box.y = y + one.box.above()
				} else {
					one.y += portGap / 2
				}
				y += one.h + boxGap
			}
			bottom = max(bottom, y-boxGap)
		}
		top = bottom
		if !l.logical {
			top += framePad
		}
		l.bottoms = append(l.bottoms, top)
		top += frameGap
	}
	l.height = top
}

// heightOf returns the height of items above each other.
func heightOf(items []*item) (h int) {
	for i, one := range items {
		if i > 0 {
			h += boxGap
		}
		h += one.h
	}
	return h
}

// placePorts sets the heights of ports. At each side of a box they are in the order of the other ends. An arrow that
// reaches a column at the height at which another one leaves the column before is moved: parts of them might be drawn
// over each other.
func (l *layout) placePorts() {
	type side struct {
		box   *box
		right bool
	}
	sides := map[side][]*port{}
	for _, a := range l.arrows {
		a.start.to, a.end.to = a.to.y, a.from.y
		if len(a.lanes) > 0 {
			first, last := a.lanes[0], a.lanes[len(a.lanes)-1]
			if !a.start.right {
				first, last = last, first
			}
			a.start.to, a.end.to = first.y, last.y
		}
		for _, p := range []*port{a.start, a.end} {
			at := side{p.box, p.right}
			sides[at] = append(sides[at], p)
		}
	}
	for _, ports := range sides {
		slices.SortStableFunc(ports, func(a, b *port) int { return cmp.Compare(a.to, b.to) })
		for i, p := range ports {
			p.y = p.box.y + titleHeight/2 + i*portGap
		}
	}
	for _, g := range l.gutters {
		for _, a := range g.parts {
			meets := func(b *part) bool { return a != b && (*b.y1 == *a.y2 || b.same && *b.y2 == *a.y2) }
			for tries := 0; tries < 3 && !a.same && slices.ContainsFunc(g.parts, meets); tries++ {
				*a.y2 += portGap / 4
			}
		}
	}
}

// assignTracks gives the vertical part of each arrow in a gutter a track. Few of them cross horizontal parts in this
// order: arrows that stay in a column, arrows down from the lowest to the highest, arrows up from the highest to the
// lowest.
func (l *layout) assignTracks() {
	for i := range l.gutters {
		g := &l.gutters[i]
		slices.SortStableFunc(g.parts, func(a, b *part) int {
			return cmp.Or(cmp.Compare(a.kind(), b.kind()), cmp.Compare(a.before(), b.before()))
		})
		for n, p := range g.parts {
			if *p.y1 == *p.y2 {
				continue
			}
			for _, other := range g.parts[:n] {
				if *other.y1 != *other.y2 && other.low() <= p.high()+step && p.low() <= other.high()+step {
					p.track = max(p.track, other.track+1)
				}
			}
			g.tracks = max(g.tracks, p.track+1)
		}
	}
}

func (p *part) low() int  { return min(*p.y1, *p.y2) }
func (p *part) high() int { return max(*p.y1, *p.y2) }

// kind and before order parts: by kind first.
func (p *part) kind() int {
	switch {
	case p.same:
		return 0
	case *p.y1 < *p.y2:
		return 1
	}
	return 2
}

func (p *part) before() int {
	switch p.kind() {
	case 0:
		return p.high() - p.low()
	case 1:
		return -*p.y1
	}
	return *p.y1
}

// placeColumns sets the horizontal places.
func (l *layout) placeColumns() {
	x := margin
	if !l.logical {
		x += framePad
	}
	for i := range l.columns {
		g, width := &l.gutters[i], 0
		for _, in := range l.columns[i] {
			for _, one := range in {
				if one.box != nil {
					one.box.x = x
					width = max(width, one.box.w)
				}
			}
		}
		g.x = x + width
		x = g.x + g.width()
	}
	last := &l.gutters[len(l.gutters)-1]
	l.width = last.x + margin
	if len(last.parts) > 0 {
		l.width += last.width()
	}
	if !l.logical {
		l.width += framePad
	}
}

// width returns the width of a gutter.
func (g *gutter) width() int {
	return max(minGutter, g.left+g.right+(g.tracks+1)*trackGap+arrowHead)
}
