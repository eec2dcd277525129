// SPDX-License-Identifier: BSD-3-Clause

// driver PORT: redsync, redislock and rueidislock by the lines of README.md. A contender is a goroutine.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncpool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"golang.org/x/sys/unix"
)

// acquire returns what releases; its context ends the wait, and must live as long as the hold.
type acquire func(ctx context.Context) (release func() error, err error)

type kind func(name string, lease time.Duration) acquire

var kinds = map[string]kind{}

func nowNs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return now.Nano()
}

// The delays between tries are what each library does when nothing is asked for, or what its first example has.
func open(address string) {
	client := redis.NewClient(&redis.Options{Addr: address})
	if err := client.Ping(context.Background()).Err(); err != nil {
		panic(err)
	}
	pool := redsync.New(redsyncpool.NewPool(client))
	kinds["redsync"] = func(name string, lease time.Duration) acquire {
		return func(ctx context.Context) (func() error, error) {
			mutex := pool.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32))
			err := mutex.LockContext(ctx)
			return func() error { _, err := mutex.Unlock(); return err }, err
		}
	}
	locker := redislock.New(client)
	kinds["redislock"] = func(name string, lease time.Duration) acquire {
		return func(ctx context.Context) (func() error, error) {
			options := &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}
			lock, err := locker.Obtain(ctx, name, lease, options)
			return func() error { return lock.Release(context.Background()) }, err
		}
	}
	lockers := map[time.Duration]rueidislock.Locker{}
	var guard sync.Mutex
	kinds["rueidislock"] = func(name string, lease time.Duration) acquire {
		guard.Lock()
		defer guard.Unlock()
		if lockers[lease] == nil {
			option := rueidis.ClientOption{InitAddress: []string{address}}
			locker, err := rueidislock.NewLocker(rueidislock.LockerOption{ClientOption: option, KeyMajority: 1, KeyValidity: lease, NoLoopTracking: true})
			if err != nil {
				panic(err)
			}
			lockers[lease] = locker
		}
		locker := lockers[lease]
		return func(ctx context.Context) (func() error, error) {
			_, cancel, err := locker.WithContext(ctx, name)
			return func() error { cancel(); return nil }, err
		}
	}
}

type play struct {
	acquire                 acquire
	hold, think, run, limit time.Duration
	end                     int64
}

// The limit is of the wait alone: a timer that the grant stops.
func (p play) once() (lines string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	asked := nowNs()
	timer := time.AfterFunc(p.limit, cancel)
	release, err := p.acquire(ctx)
	granted := nowNs()
	if !timer.Stop() && err == nil { // rueidislock ends the hold with its context: what came in that moment is none
		if err := release(); err != nil {
			fmt.Fprintln(os.Stderr, "release:", err)
		}
		return fmt.Sprintf("ended %d %d\n", asked, granted)
	}
	if err != nil {
		return fmt.Sprintf("ended %d %d\n", asked, granted)
	}
	time.Sleep(p.hold)
	releasing := nowNs()
	if err := release(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
	}
	return fmt.Sprintf("grant %d %d %d %d\n", asked, granted, releasing, nowNs())
}

func (p play) contend() string {
	var lines strings.Builder
	for nowNs() < p.end {
		line := p.once()
		lines.WriteString(line)
		if p.think > 0 && line[0] == 'g' {
			time.Sleep(p.think)
		}
	}
	return lines.String()
}

func number(word string) time.Duration {
	value, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return time.Duration(value)
}

// KIND NAME LEASE_MS HOLD_US THINK_US RUN_MS CONTENDERS WAIT_MS
func run(words []string) string {
	lines := make([]string, number(words[6]))
	end := nowNs() + int64(number(words[5])*time.Millisecond)
	var all sync.WaitGroup
	for i := range lines {
		p := play{hold: number(words[3]) * time.Microsecond, think: number(words[4]) * time.Microsecond, limit: number(words[7]) * time.Millisecond,
			end: end, acquire: kinds[words[0]](words[1], number(words[2])*time.Millisecond)}
		all.Add(1)
		go func() {
			lines[i] = p.contend()
			all.Done()
		}()
	}
	all.Wait()
	return strings.Join(lines, "") + "done\n"
}

// KIND NAME LEASE_MS
func hold(words []string, input *bufio.Scanner) string {
	asked := nowNs()
	release, err := kinds[words[0]](words[1], number(words[2])*time.Millisecond)(context.Background())
	if err != nil {
		panic(err)
	}
	granted := nowNs()
	fmt.Printf("granted %d\n", granted)
	input.Scan()
	releasing := nowNs()
	if err := release(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
	}
	return fmt.Sprintf("grant %d %d %d %d\ndone\n", asked, granted, releasing, nowNs())
}

func main() {
	open("127.0.0.1:" + os.Args[1])
	fmt.Println("ready redsync redislock rueidislock")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		words := strings.Fields(input.Text())
		if words[0] == "run" {
			fmt.Print(run(words[1:]))
		} else {
			fmt.Print(hold(words[1:], input))
		}
	}
}
