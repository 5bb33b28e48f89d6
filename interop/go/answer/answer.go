// Package answer is the program's side of the contract for clients in Go: one JSON line in, one out, in order.
package answer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"
)

type Record struct {
	Key       string      `json:"key"`
	Value     string      `json:"value"`
	Headers   [][2]string `json:"headers"`
	Timestamp int64       `json:"timestamp"`
	Partition int32       `json:"partition"`
	Offset    int64       `json:"offset"`
}

type Place struct {
	Partition int32 `json:"partition"`
	Offset    int64 `json:"offset"`
}

type Request struct {
	Do         string            `json:"do"`
	Topic      string            `json:"topic"`
	Group      string            `json:"group"`
	Partitions int32             `json:"partitions"`
	Total      int32             `json:"total"`
	Config     map[string]string `json:"config"`
	Alter      map[string]string `json:"alter"`
	Codec      string            `json:"codec"`
	Idempotent bool              `json:"idempotent"`
	Records    []Record          `json:"records"`
	Count      int               `json:"count"`
	Timestamp  int64             `json:"timestamp"`
	Member     string            `json:"member"`
	Strategy   string            `json:"strategy"`
	InstanceID string            `json:"instanceId"`
	Before     map[int32]int64   `json:"before"`
	ID         string            `json:"id"`
}

type Reply map[string]any

type Handlers map[string]func(*Request) (Reply, error)

// ReadFor is how long a read may take until it gives back what it has.
const ReadFor = 30 * time.Second

func Serve(handlers Handlers, codeOf func(error) int) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		out.Encode(reply(handlers, line, codeOf))
	}
}

func reply(handlers Handlers, line []byte, codeOf func(error) int) Reply {
	var ask Request
	err := json.Unmarshal(line, &ask)
	if err == nil {
		var answer Reply
		if answer, err = handlers[ask.Do](&ask); err == nil {
			if answer == nil {
				answer = Reply{}
			}
			return answer
		}
	}
	return Reply{"error": fmt.Sprintf("%T: %v", err, err), "code": codeOf(err)}
}

// Assignment is what a member of a group knows of its partitions; callbacks of clients write it from other goroutines.
type Assignment struct {
	mutex      sync.Mutex
	partitions map[int32]bool
	rebalances int
	err        error
}

func (a *Assignment) Set(partitions []int32) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.partitions = map[int32]bool{}
	for _, partition := range partitions {
		a.partitions[partition] = true
	}
	a.rebalances++
}

func (a *Assignment) Add(partitions []int32) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.partitions == nil {
		a.partitions = map[int32]bool{}
	}
	for _, partition := range partitions {
		a.partitions[partition] = true
	}
	a.rebalances++
}

func (a *Assignment) Remove(partitions []int32) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, partition := range partitions {
		delete(a.partitions, partition)
	}
}

func (a *Assignment) Clear() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.partitions = nil
}

func (a *Assignment) Fail(err error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.err = err
}

func (a *Assignment) Look() (Reply, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	partitions := []int32{}
	for partition := range a.partitions {
		partitions = append(partitions, partition)
	}
	sort.Slice(partitions, func(i, j int) bool { return partitions[i] < partitions[j] })
	return Reply{"partitions": partitions, "rebalances": a.rebalances}, a.err
}
