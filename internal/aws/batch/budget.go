package batch

import "sync"

// payersShare is how many times what is left free one payer may have. It lets one payer alone have three quarters, and
// leaves every next one a part of what is left, however much the others want.
const payersShare = 3

// A Budget bounds what several Loaders keep between them. What it refuses is still answered, only not kept, so a
// spent budget costs calls and never memory. The nil Budget refuses nothing.
//
// Each unit has a payer, who may have at most payersShare times what is left free. So the less is free the less one payer may
// have, and who has more than that loses it as it is renewed.
type Budget struct {
	limit int

	mu   sync.Mutex
	held int
	by   map[string]int
}

// NewBudget returns a Budget of so many units; a Loader takes one for each answer it keeps and one for each unit that
// its Weigh reports.
func NewBudget(units int) *Budget {
	return &Budget{limit: units, by: make(map[string]int)}
}

// Held is how many units are taken.
func (b *Budget) Held() int {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// take n units for the payer, and say whether there were as many for it.
func (b *Budget) take(payer string, n int) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[payer]+n > payersShare*(b.limit-b.held-n) {
		return false
	}
	b.held += n
	b.by[payer] += n
	return true
}

// give back n units of the payer.
func (b *Budget) give(payer string, n int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	if b.by[payer] -= n; b.by[payer] == 0 {
		delete(b.by, payer)
	}
}
