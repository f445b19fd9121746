package aws

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestShape(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   shape
		err    error
	}{
		"Empty":       {reason: "Nothing has no elements."},
		"Answer":      {reason: "Elements are counted, and those that are large ones.", args: `<?xml version="1.0"?><R xmlns="u"><set><item><id>1</id><x/></item><item/></set></R>`, want: shape{elements: 6, large: 4}},
		"Open":        {reason: "As far as it was read.", args: `<R><set><it`, want: shape{elements: 2, large: 2, depth: 2, inTag: true, tag: []byte("it")}},
		"Sections":    {reason: "What is no element is not counted.", args: `<?p <a> ?><R><!-- <a> -- > --><![CDATA[<a></R></R>]]></R>`, want: shape{elements: 1, large: 1}},
		"Attributes":  {reason: "A > in an attribute hides no element.", args: `<R a=">"><b/></R>`, want: shape{elements: 2, large: 2}},
		"Doctype":     {reason: "AWS sends no document type.", args: `<!DOCTYPE html><R/>`, err: errNotWhole},
		"NoXML":       {reason: "What is no XML is none.", args: `<a <b>`, err: errNotWhole},
		"NoName":      {reason: "Nor is this.", args: `<>`, err: errNotWhole},
		"LongTag":     {reason: "An element of very many attributes.", args: `<a ` + strings.Repeat(`b="" `, 1000), err: errNotWhole},
		"LongComment": {reason: "A comment of any length.", args: `<!-- ` + strings.Repeat(`<a>`, 1000), err: errNotWhole},
		"Deep":        {reason: "Elements in elements in elements.", args: strings.Repeat(`<a>`, 100), err: errNotWhole},
		"ManyLarge":   {reason: "Of smaller ones there may be more.", args: `<R><a><b>` + strings.Repeat(`<c/>`, maxLargeElements), want: shape{elements: 3 + maxLargeElements, large: 3, depth: 3}},
		"ManyLarger":  {reason: "Instances without end.", args: `<R>` + strings.Repeat(`<c/>`, maxLargeElements), err: errTooLarge},
		"Many":        {reason: "Tags without end.", args: `<R><a><b>` + strings.Repeat(`<c/>`, maxElements), err: errTooLarge},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var s shape
			err := s.add([]byte(tc.args), 3)
			if !errors.Is(err, tc.err) {
				t.Errorf("\n%s\nwant %v, got %v", tc.reason, tc.err, err)
			}
			if tc.err == nil && tc.want.elements > 0 && (s.elements != tc.want.elements || s.large != tc.want.large || s.depth != tc.want.depth || s.inTag != tc.want.inTag) {
				t.Errorf("\n%s\nwant %+v, got %+v", tc.reason, tc.want, s)
			}
		})
	}
}

// A document is made of the elements that a decoder finds in it, in however small pieces it comes.
func TestShapeIsWhatADecoderFinds(t *testing.T) {
	part := rapid.SampledFrom([]string{"<a>", "</a>", "<a/>", `<b c="/">`, "</b>", `<a x=">" y='/'/>`, "<!--x-->", "<!-->-->", "<!-- > <a> -->", "<![CDATA[<a>]]>", "<![CDATA[]]]]>", "<?p <a>?>", "<?p?>", "text", " ", "&lt;", "]]", "--", "/"})
	rapid.Check(t, func(t *rapid.T) {
		doc := "<R>" + strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "") + "</R>"

		elements, large, depth := 0, 0, 0
		d := xml.NewDecoder(strings.NewReader(doc))
		var err error
		for err == nil {
			var token xml.Token
			switch token, err = d.Token(); token.(type) {
			case xml.StartElement:
				if elements++; depth < 2 {
					large++
				}
				depth++
			case xml.EndElement:
				depth--
			}
		}
		if !errors.Is(err, io.EOF) {
			t.Skip("no decoder takes it")
		}

		var s shape
		for rest := []byte(doc); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if err := s.add(rest[:n], 2); err != nil {
				t.Fatalf("%s: %v", doc, err)
			}
			rest = rest[n:]
		}
		if s.elements != elements || s.large != large || s.depth != 0 || s.inTag {
			t.Fatalf("%s: want %d elements, %d of them large, got %+v", doc, elements, large, s)
		}
	})
}
