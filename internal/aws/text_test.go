package aws

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What AWS says of a refresh goes to the status of a pool, which cannot be stored when that is megabytes.
func TestWhatAWSSaysOfARefreshIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := demoAWS()
		f.refreshes["demo"][0] = astypes.InstanceRefresh{
			InstanceRefreshId: awssdk.String(strings.Repeat("8", 1<<20)),
			Status:            astypes.InstanceRefreshStatus(strings.Repeat("Odd", 1<<20)),
			StatusReason:      awssdk.String("Waiting\nfor \x1b[31mi-1\u202e\r\n\tto start. " + strings.Repeat("canary ", 1<<18)),
		}
		q := query("demo")
		q.Refresh = true
		got := newFakeReader(t, f).Read(context.Background(), q).Refresh.Value
		if got == nil {
			t.Fatal("want a refresh")
		}
		for name, text := range map[string]string{"ID": got.ID, "Status": got.Status, "StatusReason": got.StatusReason} {
			if n := utf8.RuneCountInString(text); n == 0 || n > 256 {
				t.Errorf("%s: want at most 256 characters, got %d", name, n)
			}
		}
		if want := "Waiting for [31mi-1 to start. canary "; !strings.HasPrefix(got.StatusReason, want) || !strings.HasSuffix(got.StatusReason, "...") {
			t.Errorf("want it to begin with %q and to end with dots, got %q", want, got.StatusReason)
		}
	})
}

func TestOneLine(t *testing.T) {
	most := strings.Repeat("x", 256)
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Empty":     {reason: "Nothing is nothing."},
		"Plain":     {reason: "What is fit to be shown is shown as it is.", args: "Waiting for 2 instances (50%): naïve, ½.", want: "Waiting for 2 instances (50%): naïve, ½."},
		"Lines":     {reason: "Lines become one.", args: " \n one\r\n\n two\tthree\u2028four \n", want: "one two three four"},
		"Control":   {reason: "Nothing that a terminal would act on, and nothing that cannot be seen.", args: "a\x00b\x1b]0;c\x07\u202ed\u200be", want: "ab]0;cde"},
		"OnlyThose": {reason: "Of which nothing may be left.", args: "\x00\u200b\n"},
		"NotUTF8":   {reason: "What is no UTF-8 could not be stored.", args: "a\xffb", want: "a\uFFFDb"},
		"Most":      {reason: "As much as may be.", args: most, want: most},
		"MostAnd":   {reason: "Spaces at the end are none.", args: most + " \n", want: most},
		"TooMuch":   {reason: "One more is cut.", args: most + "y", want: most[:253] + "..."},
		"Runes":     {reason: "Characters are counted, and none is cut in two.", args: strings.Repeat("é", 257), want: strings.Repeat("é", 253) + "..."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, oneLine(tc.args)); diff != "" {
				t.Errorf("\n%s\noneLine(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOneLineIsShortAndPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Repeat(rapid.String().Draw(t, "text"), rapid.IntRange(1, 100).Draw(t, "times"))
		got := oneLine(in)
		if n := utf8.RuneCountInString(got); n > maxTextRunes || !utf8.ValidString(got) {
			t.Fatalf("want at most %d characters of UTF-8, got %d: %q", maxTextRunes, n, got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("want printable characters, got %q", got)
			}
		}
		if again := oneLine(got); again != got {
			t.Fatalf("want it to stay as it is, got %q of %q", again, got)
		}
	})
}
