// A second service in some lines: it reads events from NATS, and keeps the highest version of each record.
//
//	cd examples/nats_reader && go run . nats://127.0.0.1:4222 WORKS
//
// Prints each change once, and ends when nothing comes for two seconds. A real service would keep `seen` in its
// database, in the transaction that writes what it makes of the event, and acknowledge after the commit.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	connection := must(nats.Connect(os.Args[1]))
	stream := must(connection.JetStream())
	events := must(stream.PullSubscribe("", "second-service", nats.BindStream(os.Args[2]), nats.AckExplicit()))
	seen := map[string]int{}
	for {
		messages, err := events.Fetch(100, nats.MaxWait(2*time.Second))
		for _, message := range messages {
			header := func(name string) string { return must(url.PathUnescape(message.Header.Get(name))) }
			key := header("aggregate_type") + "/" + header("aggregate_id")
			version := must(strconv.Atoi(header("version")))
			if version > seen[key] { // else: delivered again, or late
				var event struct{ Fields struct{ Title string } }
				if err := json.Unmarshal(message.Data, &event); err != nil {
					log.Fatal(err)
				}
				fmt.Println(header("event_type"), key, version, event.Fields.Title)
				seen[key] = version
			}
			if err := message.AckSync(); err != nil {
				log.Fatal(err)
			}
		}
		if err != nil && len(messages) == 0 {
			fmt.Println(len(seen), "works")
			return
		}
	}
}
