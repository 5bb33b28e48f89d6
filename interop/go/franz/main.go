// Drives franz-go for the interop table.
package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"mq/interop/answer"
)

var (
	codecs = map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	members = map[string]*member{}
)

type member struct {
	answer.Assignment
	client  *kgo.Client
	stop    context.CancelFunc
	stopped chan struct{}
	static  bool
}

func main() {
	answer.Serve(answer.Handlers{
		"hello":       hello,
		"admin":       admin,
		"produce":     produce,
		"consume":     consume,
		"committed":   committed,
		"seek":        seek,
		"join":        join,
		"assignment":  func(ask *answer.Request) (answer.Reply, error) { return members[ask.Member].Look() },
		"leave":       leave,
		"delete":      remove,
		"transaction": transaction,
	}, func(err error) int {
		var known *kerr.Error
		if errors.As(err, &known) {
			return int(known.Code)
		}
		return -1
	})
}

func client(options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(os.Args[1])}, options...)...)
}

func within(limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	time.AfterFunc(limit, cancel)
	return ctx
}

func hello(*answer.Request) (answer.Reply, error) {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/twmb/franz-go" {
				version = module.Version
			}
		}
	}
	return answer.Reply{
		"version": version,
		"codecs":  []string{"none", "gzip", "snappy", "lz4", "zstd"},
		"can": []string{"timestamps", "headers", "offsets", "idempotent", "static", "cooperative", "transactions", "admin", "configs",
			"committed", "deleteRecords", "seek", "codes"},
	}, nil
}

func admin(ask *answer.Request) (answer.Reply, error) {
	one, err := client()
	if err != nil {
		return nil, err
	}
	defer one.Close()
	adm, ctx := kadm.NewClient(one), within(30*time.Second)
	configs := map[string]*string{}
	for name, value := range ask.Config {
		configs[name] = &value
	}
	if _, err := adm.CreateTopic(ctx, ask.Partitions, 1, configs, ask.Topic); err != nil {
		return nil, err
	}
	described, err := describe(ctx, adm, ask)
	if err != nil {
		return nil, err
	}
	var alter []kadm.AlterConfig
	for name, value := range ask.Alter {
		alter = append(alter, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	changed, err := adm.AlterTopicConfigs(ctx, alter, ask.Topic)
	if err == nil {
		err = changed[0].Err
	}
	if err != nil {
		return nil, err
	}
	grown, err := adm.UpdatePartitions(ctx, int(ask.Total), ask.Topic)
	if err == nil {
		err = grown.Error()
	}
	if err != nil {
		return nil, err
	}
	altered, err := describe(ctx, adm, ask)
	if err != nil {
		return nil, err
	}
	topics, err := adm.ListTopics(ctx)
	return answer.Reply{"described": described, "altered": altered, "topics": topics.Names()}, err
}

func describe(ctx context.Context, adm *kadm.Client, ask *answer.Request) (answer.Reply, error) {
	found, err := adm.DescribeTopicConfigs(ctx, ask.Topic)
	if err != nil {
		return nil, err
	}
	config := map[string]string{}
	for _, one := range found[0].Configs {
		if _, wanted := ask.Config[one.Key]; wanted {
			config[one.Key] = one.MaybeValue()
		}
	}
	topics, err := adm.ListTopics(ctx, ask.Topic)
	return answer.Reply{"partitions": len(topics[ask.Topic].Partitions), "config": config}, err
}

func produce(ask *answer.Request) (answer.Reply, error) {
	options := []kgo.Opt{kgo.ProducerBatchCompression(codecs[ask.Codec]), kgo.ProducerLinger(20 * time.Millisecond)}
	if !ask.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	one, err := client(options...)
	if err != nil {
		return nil, err
	}
	defer one.Close()
	records := make([]*kgo.Record, len(ask.Records))
	for at, record := range ask.Records {
		records[at] = &kgo.Record{Topic: ask.Topic, Key: []byte(record.Key), Value: []byte(record.Value), Timestamp: time.UnixMilli(record.Timestamp)}
		for _, header := range record.Headers {
			records[at].Headers = append(records[at].Headers, kgo.RecordHeader{Key: header[0], Value: []byte(header[1])})
		}
	}
	if err := one.ProduceSync(within(30*time.Second), records...).FirstErr(); err != nil {
		return nil, err
	}
	places := make([]answer.Place, len(records))
	for at, record := range records {
		places[at] = answer.Place{Partition: record.Partition, Offset: record.Offset}
	}
	return answer.Reply{"at": places}, nil
}

func consume(ask *answer.Request) (answer.Reply, error) {
	one, err := client(kgo.ConsumerGroup(ask.Group), kgo.ConsumeTopics(ask.Topic), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer one.Close()
	records, err := read(one, ask.Count)
	if err != nil {
		return nil, err
	}
	return answer.Reply{"records": records}, one.CommitUncommittedOffsets(within(10 * time.Second))
}

func read(one *kgo.Client, count int) ([]answer.Record, error) {
	records, ctx := []answer.Record{}, within(answer.ReadFor)
	for len(records) < count && ctx.Err() == nil {
		fetches := one.PollFetches(ctx)
		if err := fetches.Err(); err != nil && ctx.Err() == nil {
			return nil, err
		}
		fetches.EachRecord(func(record *kgo.Record) {
			read := answer.Record{Key: string(record.Key), Value: string(record.Value), Headers: [][2]string{}, Timestamp: record.Timestamp.UnixMilli(),
				Partition: record.Partition, Offset: record.Offset}
			for _, header := range record.Headers {
				read.Headers = append(read.Headers, [2]string{header.Key, string(header.Value)})
			}
			records = append(records, read)
		})
	}
	return records, nil
}

func committed(ask *answer.Request) (answer.Reply, error) {
	one, err := client()
	if err != nil {
		return nil, err
	}
	defer one.Close()
	found, err := kadm.NewClient(one).FetchOffsets(within(10*time.Second), ask.Group)
	offsets := map[int32]int64{}
	for partition, place := range found[ask.Topic] {
		offsets[partition] = place.At
	}
	return answer.Reply{"offsets": offsets}, err
}

func seek(ask *answer.Request) (answer.Reply, error) {
	lookup, err := client()
	if err != nil {
		return nil, err
	}
	found, err := kadm.NewClient(lookup).ListOffsetsAfterMilli(within(10*time.Second), ask.Timestamp, ask.Topic)
	lookup.Close()
	if err != nil {
		return nil, err
	}
	offsets, starts := map[int32]int64{}, map[int32]kgo.Offset{}
	for partition, place := range found[ask.Topic] {
		if place.Timestamp >= 0 {
			offsets[partition] = place.Offset
		}
		starts[partition] = kgo.NewOffset().At(place.Offset)
	}
	one, err := client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{ask.Topic: starts}))
	if err != nil {
		return nil, err
	}
	defer one.Close()
	records, err := read(one, ask.Count)
	return answer.Reply{"offsets": offsets, "records": records}, err
}

func join(ask *answer.Request) (answer.Reply, error) {
	balancer := kgo.RangeBalancer()
	if ask.Strategy == "cooperative" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	self := &member{stopped: make(chan struct{}), static: ask.InstanceID != ""}
	options := []kgo.Opt{
		kgo.ConsumerGroup(ask.Group), kgo.ConsumeTopics(ask.Topic), kgo.Balancers(balancer), kgo.DisableAutoCommit(),
		kgo.SessionTimeout(10 * time.Second), kgo.HeartbeatInterval(300 * time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) { self.Add(added[ask.Topic]) }),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { self.Remove(lost[ask.Topic]) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { self.Remove(lost[ask.Topic]) }),
	}
	if self.static {
		options = append(options, kgo.InstanceID(ask.InstanceID))
	}
	one, err := client(options...)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	self.client, self.stop = one, stop
	members[ask.Member] = self
	go func() {
		defer close(self.stopped)
		for ctx.Err() == nil {
			one.PollFetches(ctx)
		}
	}()
	return nil, nil
}

func leave(ask *answer.Request) (answer.Reply, error) {
	self := members[ask.Member]
	delete(members, ask.Member)
	self.stop()
	<-self.stopped
	self.client.Close()
	return nil, nil
}

func remove(ask *answer.Request) (answer.Reply, error) {
	one, err := client()
	if err != nil {
		return nil, err
	}
	defer one.Close()
	adm, ctx := kadm.NewClient(one), within(30*time.Second)
	before := kadm.Offsets{}
	for partition, offset := range ask.Before {
		before.AddOffset(ask.Topic, partition, offset, -1)
	}
	cut, err := adm.DeleteRecords(ctx, before)
	if err == nil {
		err = cut.Error()
	}
	if err != nil {
		return nil, err
	}
	starts, err := adm.ListStartOffsets(ctx, ask.Topic)
	if err != nil {
		return nil, err
	}
	earliest := map[int32]int64{}
	for partition := range ask.Before {
		earliest[partition] = starts[ask.Topic][partition].Offset
	}
	if gone, err := adm.DeleteGroups(ctx, ask.Group); err != nil || gone.Error() != nil {
		return nil, errors.Join(err, gone.Error())
	}
	if gone, err := adm.DeleteTopics(ctx, ask.Topic); err != nil || gone.Error() != nil {
		return nil, errors.Join(err, gone.Error())
	}
	groups, err := adm.ListGroups(ctx)
	if err != nil {
		return nil, err
	}
	topics, err := adm.ListTopics(ctx)
	return answer.Reply{"earliest": earliest, "groups": groups.Groups(), "topics": topics.Names()}, err
}

func transaction(ask *answer.Request) (answer.Reply, error) {
	one, err := client(kgo.TransactionalID(ask.ID))
	if err != nil {
		return nil, err
	}
	defer one.Close()
	_, _, err = one.ProducerID(within(30 * time.Second))
	return nil, err
}
