package console

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/cqld/cqld/protocol/client"
)

var docs = flag.Bool("docs", false, "rewrite the pictures in docs/images")

// TestPictures makes the pictures of docs/console.md.
func TestPictures(t *testing.T) {
	if !*docs {
		t.Skip("-docs rewrites the pictures")
	}
	s := startServer(t, shop, "--test-controls", "--ring", "3")
	tb := s.newTab(1200, false)
	save := func(name string, height int64) {
		t.Helper()
		tb.run(emulation.SetDeviceMetricsOverride(1200, height, 1, false))
		var b []byte
		tb.run(chromedp.Sleep(200*time.Millisecond), chromedp.CaptureScreenshot(&b))
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", name), shrink(t, b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	conn := s.dial(client.Options{})
	run := func(text string) {
		_, _ = conn.Query(t.Context(), text, nil, nil) // some are meant to fail
	}
	tb.open("/")
	tb.wait("document.querySelector('.diagram img').complete")
	save("console-schema.png", 860)
	tb.open("/query?keyspace=shop")
	tb.run(chromedp.Evaluate(fmt.Sprintf("area.value = %q; changed(); form.elements.trace.checked = true; form.requestSubmit()", selectOrders), nil))
	tb.wait("document.querySelector('.trace') && document.querySelector('.plan')")
	save("console-query.png", 760)
	run("UPDATE cqld_control.clock SET advance = 48h WHERE key = 'local'")
	run("INSERT INTO cqld_control.faults (name, kind, table_name, act, times) VALUES ('one late write', 'insert', 'products', 'write_timeout', 1)")
	run("UPDATE cqld_control.nodes SET up = false WHERE number = 2")
	tb.open("/activity")
	tb.wait("document.querySelector('.live.on')")
	for i := range 200 {
		run(fmt.Sprintf("SELECT * FROM shop.products WHERE id = '%s'", []string{"tea", "milk", "tea", "cup", "tea"}[i%5]))
		if i%50 == 0 {
			run("INSERT INTO shop.products (id, name, price) VALUES ('pot', 'Pot', 20)")
			run("SELECT * FROM shop.orders_by_customer WHERE status = 'open' ALLOW FILTERING")
		}
		time.Sleep(time.Duration(10+i%7*4) * time.Millisecond)
	}
	save("console-activity.png", 1420)
}

// shrink encodes a picture with a palette of its most frequent colours; the others become the nearest of these.
func shrink(t *testing.T, encoded []byte) []byte {
	t.Helper()
	from, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[color.Color]int{}
	bounds := from.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[from.At(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return cmp.Compare(counts[b], counts[a]) })
	palette := color.Palette(frequent[:min(len(frequent), 256)])
	to, nearest := image.NewPaletted(bounds, palette), map[color.Color]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := from.At(x, y)
			i, known := nearest[c]
			if !known {
				i = uint8(palette.Index(c))
				nearest[c] = i
			}
			to.SetColorIndex(x, y, i)
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, to); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
