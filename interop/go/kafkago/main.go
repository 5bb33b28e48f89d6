// Drives kafka-go for the interop table.
package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/segmentio/kafka-go"
	"mq/interop/answer"
)

var (
	codecs  = map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
	members = map[string]*member{}
)

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
		var known kafka.Error
		if errors.As(err, &known) {
			return int(known)
		}
		return -1
	})
}

// client has a transport of its own: the shared one answers metadata from a cache that is seconds old.
func client() *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(os.Args[1]), Timeout: 20 * time.Second, Transport: &kafka.Transport{}}
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
			if module.Path == "github.com/segmentio/kafka-go" {
				version = module.Version
			}
		}
	}
	return answer.Reply{
		"version": version,
		"codecs":  []string{"none", "gzip", "snappy", "lz4", "zstd"},
		"can":     []string{"timestamps", "headers", "transactions", "admin", "configs", "committed", "seek", "codes"},
	}, nil
}

func admin(ask *answer.Request) (answer.Reply, error) {
	one, ctx := client(), within(30*time.Second)
	entries := []kafka.ConfigEntry{}
	for name, value := range ask.Config {
		entries = append(entries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	created, err := one.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: ask.Topic, NumPartitions: int(ask.Partitions), ReplicationFactor: 1, ConfigEntries: entries}}})
	if err == nil {
		err = created.Errors[ask.Topic]
	}
	if err != nil {
		return nil, err
	}
	described, err := describe(ctx, one, ask)
	if err != nil {
		return nil, err
	}
	alter := []kafka.IncrementalAlterConfigsRequestConfig{}
	for name, value := range ask.Alter {
		alter = append(alter, kafka.IncrementalAlterConfigsRequestConfig{Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet})
	}
	changed, err := one.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: ask.Topic, Configs: alter}}})
	if err == nil {
		err = changed.Resources[0].Error
	}
	if err != nil {
		return nil, err
	}
	grown, err := one.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: ask.Topic, Count: ask.Total}}})
	if err == nil {
		err = grown.Errors[ask.Topic]
	}
	if err != nil {
		return nil, err
	}
	one = client()
	altered, err := describe(ctx, one, ask)
	if err != nil {
		return nil, err
	}
	topics, err := names(ctx, one)
	return answer.Reply{"described": described, "altered": altered, "topics": topics}, err
}

func describe(ctx context.Context, one *kafka.Client, ask *answer.Request) (answer.Reply, error) {
	wanted := []string{}
	for name := range ask.Config {
		wanted = append(wanted, name)
	}
	found, err := one.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: ask.Topic, ConfigNames: wanted}}})
	if err != nil {
		return nil, err
	}
	config := map[string]string{}
	for _, entry := range found.Resources[0].ConfigEntries {
		config[entry.ConfigName] = entry.ConfigValue
	}
	metadata, err := one.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{ask.Topic}})
	if err != nil {
		return nil, err
	}
	return answer.Reply{"partitions": len(metadata.Topics[0].Partitions), "config": config}, nil
}

func names(ctx context.Context, one *kafka.Client) ([]string, error) {
	metadata, err := one.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, topic := range metadata.Topics {
		names = append(names, topic.Name)
	}
	return names, nil
}

func produce(ask *answer.Request) (answer.Reply, error) {
	writer := &kafka.Writer{Addr: kafka.TCP(os.Args[1]), Topic: ask.Topic, Balancer: &kafka.Hash{}, RequiredAcks: kafka.RequireAll,
		BatchTimeout: 20 * time.Millisecond, Compression: codecs[ask.Codec]}
	messages := make([]kafka.Message, len(ask.Records))
	for at, record := range ask.Records {
		messages[at] = kafka.Message{Key: []byte(record.Key), Value: []byte(record.Value), Time: time.UnixMilli(record.Timestamp)}
		for _, header := range record.Headers {
			messages[at].Headers = append(messages[at].Headers, kafka.Header{Key: header[0], Value: []byte(header[1])})
		}
	}
	err := writer.WriteMessages(within(30*time.Second), messages...)
	return answer.Reply{"at": []answer.Place{}}, errors.Join(err, writer.Close())
}

func consume(ask *answer.Request) (answer.Reply, error) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{os.Args[1]}, GroupID: ask.Group, Topic: ask.Topic, StartOffset: kafka.FirstOffset,
		MaxWait: 200 * time.Millisecond, HeartbeatInterval: 300 * time.Millisecond, SessionTimeout: 10 * time.Second})
	records, last, err := read(reader, ask.Count)
	if err == nil {
		err = reader.CommitMessages(within(10*time.Second), last...)
	}
	return answer.Reply{"records": records}, errors.Join(err, reader.Close())
}

func read(reader *kafka.Reader, count int) ([]answer.Record, []kafka.Message, error) {
	records, last, ctx := []answer.Record{}, map[int]kafka.Message{}, within(answer.ReadFor)
	for len(records) < count {
		message, err := reader.FetchMessage(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		record := answer.Record{Key: string(message.Key), Value: string(message.Value), Headers: [][2]string{}, Timestamp: message.Time.UnixMilli(),
			Partition: int32(message.Partition), Offset: message.Offset}
		for _, header := range message.Headers {
			record.Headers = append(record.Headers, [2]string{header.Key, string(header.Value)})
		}
		records = append(records, record)
		last[message.Partition] = message
	}
	messages := []kafka.Message{}
	for _, message := range last {
		messages = append(messages, message)
	}
	return records, messages, nil
}

func committed(ask *answer.Request) (answer.Reply, error) {
	found, err := client().OffsetFetch(within(10*time.Second), &kafka.OffsetFetchRequest{GroupID: ask.Group, Topics: map[string][]int{ask.Topic: {0, 1, 2}}})
	if err == nil {
		err = found.Error
	}
	if err != nil {
		return nil, err
	}
	offsets := map[int]int64{}
	for _, one := range found.Topics[ask.Topic] {
		if one.CommittedOffset >= 0 {
			offsets[one.Partition] = one.CommittedOffset
		}
	}
	return answer.Reply{"offsets": offsets}, nil
}

// seek reads each partition by a reader of its own: readers without a group have one partition.
func seek(ask *answer.Request) (answer.Reply, error) {
	requests := []kafka.OffsetRequest{}
	for partition := range 3 {
		requests = append(requests, kafka.TimeOffsetOf(partition, time.UnixMilli(ask.Timestamp)), kafka.LastOffsetOf(partition))
	}
	found, err := client().ListOffsets(within(10*time.Second), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{ask.Topic: requests}})
	if err != nil {
		return nil, err
	}
	offsets, records := map[int]int64{}, []answer.Record{}
	for _, partition := range found.Topics[ask.Topic] {
		for offset := range partition.Offsets {
			if offset < 0 || offset == partition.LastOffset {
				continue
			}
			offsets[partition.Partition] = offset
			reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{os.Args[1]}, Topic: ask.Topic, Partition: partition.Partition, MaxWait: 200 * time.Millisecond})
			if err := reader.SetOffset(offset); err != nil {
				return nil, err
			}
			some, _, err := read(reader, int(partition.LastOffset-offset))
			if err := errors.Join(err, reader.Close()); err != nil {
				return nil, err
			}
			records = append(records, some...)
		}
	}
	return answer.Reply{"offsets": offsets, "records": records}, nil
}

type member struct {
	answer.Assignment
	group   *kafka.ConsumerGroup
	stop    context.CancelFunc
	stopped chan struct{}
}

func join(ask *answer.Request) (answer.Reply, error) {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: ask.Group, Brokers: []string{os.Args[1]}, Topics: []string{ask.Topic},
		GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}, HeartbeatInterval: 300 * time.Millisecond, SessionTimeout: 10 * time.Second,
		StartOffset: kafka.FirstOffset})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	self := &member{group: group, stop: stop, stopped: make(chan struct{})}
	members[ask.Member] = self
	go func() {
		defer close(self.stopped)
		for {
			generation, err := group.Next(ctx)
			if ctx.Err() != nil || errors.Is(err, kafka.ErrGroupClosed) {
				return
			}
			if err != nil {
				self.Fail(err)
				continue
			}
			mine := []int32{}
			for _, one := range generation.Assignments[ask.Topic] {
				mine = append(mine, int32(one.ID))
			}
			self.Set(mine)
			generation.Start(func(gone context.Context) {
				<-gone.Done()
				self.Clear()
			})
		}
	}()
	return nil, nil
}

func leave(ask *answer.Request) (answer.Reply, error) {
	self := members[ask.Member]
	delete(members, ask.Member)
	self.stop()
	err := self.group.Close()
	<-self.stopped
	return nil, err
}

func remove(ask *answer.Request) (answer.Reply, error) {
	one, ctx := client(), within(30*time.Second)
	gone, err := one.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{ask.Group}})
	if err == nil {
		err = gone.Errors[ask.Group]
	}
	if err != nil {
		return nil, err
	}
	deleted, err := one.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{ask.Topic}})
	if err == nil {
		err = deleted.Errors[ask.Topic]
	}
	if err != nil {
		return nil, err
	}
	listed, err := one.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	groups := []string{}
	for _, group := range listed.Groups {
		groups = append(groups, group.GroupID)
	}
	topics, err := names(ctx, client())
	return answer.Reply{"groups": groups, "topics": topics}, err
}

func transaction(ask *answer.Request) (answer.Reply, error) {
	found, err := client().InitProducerID(within(25*time.Second), &kafka.InitProducerIDRequest{TransactionalID: ask.ID, TransactionTimeoutMs: 60_000})
	if err == nil {
		err = found.Error
	}
	return nil, err
}
