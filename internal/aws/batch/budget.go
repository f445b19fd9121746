package batch

import "sync/atomic"

// A Budget bounds what several Loaders keep between them. What it refuses is still answered, only not kept, so a
// spent budget costs calls and never memory. The nil Budget refuses nothing.
type Budget struct {
	limit int64
	held  atomic.Int64
}

// NewBudget returns a Budget of so many units; a Loader takes one for each answer it keeps and one for each unit that
// its Weigh reports.
func NewBudget(units int) *Budget {
	return &Budget{limit: int64(units)}
}

// Held is how many units are taken.
func (b *Budget) Held() int {
	if b == nil {
		return 0
	}
	return int(b.held.Load())
}

// take takes n units (gives them back when n is negative) and says whether there were as many.
func (b *Budget) take(n int) bool {
	if b == nil {
		return true
	}
	if held := b.held.Add(int64(n)); n > 0 && held > b.limit {
		b.held.Add(-int64(n))
		return false
	}
	return true
}
