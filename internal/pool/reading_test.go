package pool

import "testing"

func TestRead(t *testing.T) {
	type want struct {
		known, failed bool
	}
	cases := map[string]struct {
		reason string
		args   Read[*Group]
		want   want
	}{
		"NotAsked":     {reason: "The zero Read says that nothing was read.", args: Read[*Group]{}},
		"Known":        {reason: "A value that was read is known.", args: Read[*Group]{Asked: true, Value: &Group{}}, want: want{known: true}},
		"KnownNil":     {reason: "That there is nothing is known, too.", args: Read[*Group]{Asked: true}, want: want{known: true}},
		"Failed":       {reason: "A read that failed is not known.", args: Read[*Group]{Asked: true, Err: &ReadError{}}, want: want{failed: true}},
		"FailedHalf":   {reason: "Half an answer is none.", args: Read[*Group]{Asked: true, Value: &Group{}, Err: &ReadError{}}, want: want{failed: true}},
		"ErrNotWanted": {reason: "Nothing can fail that no one asked for.", args: Read[*Group]{Err: &ReadError{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (want{known: tc.args.Known(), failed: tc.args.Failed()}); got != tc.want {
				t.Errorf("\n%s\nKnown(), Failed(): want %+v, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}
