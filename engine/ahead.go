package engine

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
)

// What a long delivery costs is spread over the machine's processors: its messages are parsed together, and while the transaction stores
// the first of them the texts of the next are being analysed.

// share is how many messages one goroutine takes at a time. A turn of a conversation is less than two shares and stays where it is.
const share = 32

// parallel calls do for 0..n-1, from several goroutines when there are many.
func parallel(n int, do func(i int)) {
	if n < 2*share {
		for i := range n {
			do(i)
		}
		return
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	var panicked atomic.Value
	for range min(n/share, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked.Store(fmt.Sprint(p))
				}
			}()
			for from := int(next.Add(share)) - share; from < n; from = int(next.Add(share)) - share {
				for i := from; i < min(from+share, n); i++ {
					do(i)
				}
			}
		})
	}
	wg.Wait()
	if p := panicked.Load(); p != nil {
		panic(p) // where the caller's transport turns it into an answer
	}
}

// analysis works out the passages of a delivery's messages, in order, ahead of the transaction that stores them.
type analysis struct {
	list  []incoming
	docs  [][]skald.Doc
	ready []chan struct{} // of each share
}

// analysed starts the analysis of what is going to be stored.
func analysed(list []incoming) []incoming {
	if len(list) < 2*share {
		return list
	}
	a := &analysis{docs: make([][]skald.Doc, len(list)), ready: make([]chan struct{}, (len(list)+share-1)/share)}
	for i := range list {
		list[i].ahead, list[i].at = a, i
	}
	a.list = list
	for i := range a.ready {
		a.ready[i] = make(chan struct{})
	}
	var next atomic.Int64
	for range min(len(a.ready), runtime.GOMAXPROCS(0)) {
		go func() {
			for n := int(next.Add(1)) - 1; n < len(a.ready); n = int(next.Add(1)) - 1 {
				a.analyse(n)
			}
		}()
	}
	return list
}

// analyse works on one share. A panic leaves the rest of it to the transaction, where it becomes an error.
func (a *analysis) analyse(n int) {
	defer close(a.ready[n])
	defer func() { _ = recover() }()
	for i := n * share; i < min((n+1)*share, len(a.list)); i++ {
		if docs := index.Passages(a.list[i].msg); docs != nil {
			a.docs[i] = docs
		} else {
			a.docs[i] = []skald.Doc{}
		}
	}
}

// passages are those of the message's text, with their terms. They are the caller's.
func (in incoming) passages() []skald.Doc {
	if in.ahead == nil {
		return index.Passages(in.msg)
	}
	<-in.ahead.ready[in.at/share]
	docs := in.ahead.docs[in.at]
	if docs == nil {
		return index.Passages(in.msg)
	}
	in.ahead.docs[in.at] = nil
	return docs
}
