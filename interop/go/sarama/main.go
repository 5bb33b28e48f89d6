// Drives sarama for the interop table.
package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/IBM/sarama"
	"mq/interop/answer"
)

var (
	codecs = map[string]sarama.CompressionCodec{
		"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
	}
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
		var known sarama.KError
		if errors.As(err, &known) {
			return int(known)
		}
		return -1
	})
}

func brokers() []string { return []string{os.Args[1]} }

func config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.ClientID = "sarama"
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Flush.Frequency = 20 * time.Millisecond
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = 10 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	return config
}

func hello(*answer.Request) (answer.Reply, error) {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/IBM/sarama" {
				version = module.Version
			}
		}
	}
	return answer.Reply{
		"version": version,
		"codecs":  []string{"none", "gzip", "snappy", "lz4", "zstd"},
		"can":     []string{"timestamps", "headers", "offsets", "idempotent", "static", "transactions", "admin", "configs", "committed", "deleteRecords", "seek", "codes"},
	}, nil
}

func admin(ask *answer.Request) (answer.Reply, error) {
	adm, err := sarama.NewClusterAdmin(brokers(), config())
	if err != nil {
		return nil, err
	}
	defer adm.Close()
	entries := map[string]*string{}
	for name, value := range ask.Config {
		entries[name] = &value
	}
	if err := adm.CreateTopic(ask.Topic, &sarama.TopicDetail{NumPartitions: ask.Partitions, ReplicationFactor: 1, ConfigEntries: entries}, false); err != nil {
		return nil, err
	}
	described, err := describe(adm, ask)
	if err != nil {
		return nil, err
	}
	alter := map[string]sarama.IncrementalAlterConfigsEntry{}
	for name, value := range ask.Alter {
		alter[name] = sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}
	}
	if err := adm.IncrementalAlterConfig(sarama.TopicResource, ask.Topic, alter, false); err != nil {
		return nil, err
	}
	if err := adm.CreatePartitions(ask.Topic, ask.Total, nil, false); err != nil {
		return nil, err
	}
	altered, err := describe(adm, ask)
	if err != nil {
		return nil, err
	}
	topics, err := names(adm)
	return answer.Reply{"described": described, "altered": altered, "topics": topics}, err
}

func describe(adm sarama.ClusterAdmin, ask *answer.Request) (answer.Reply, error) {
	entries, err := adm.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: ask.Topic})
	if err != nil {
		return nil, err
	}
	config := map[string]string{}
	for _, entry := range entries {
		if _, wanted := ask.Config[entry.Name]; wanted {
			config[entry.Name] = entry.Value
		}
	}
	topics, err := adm.DescribeTopics([]string{ask.Topic})
	if err != nil {
		return nil, err
	}
	return answer.Reply{"partitions": len(topics[0].Partitions), "config": config}, nil
}

func names(adm sarama.ClusterAdmin) ([]string, error) {
	topics, err := adm.ListTopics()
	names := []string{}
	for name := range topics {
		names = append(names, name)
	}
	return names, err
}

func produce(ask *answer.Request) (answer.Reply, error) {
	config := config()
	config.Producer.Compression = codecs[ask.Codec]
	config.Producer.Idempotent = ask.Idempotent
	config.Net.MaxOpenRequests = 1
	producer, err := sarama.NewSyncProducer(brokers(), config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	messages := make([]*sarama.ProducerMessage, len(ask.Records))
	for at, record := range ask.Records {
		messages[at] = &sarama.ProducerMessage{Topic: ask.Topic, Key: sarama.StringEncoder(record.Key), Value: sarama.StringEncoder(record.Value),
			Timestamp: time.UnixMilli(record.Timestamp)}
		for _, header := range record.Headers {
			messages[at].Headers = append(messages[at].Headers, sarama.RecordHeader{Key: []byte(header[0]), Value: []byte(header[1])})
		}
	}
	if err := producer.SendMessages(messages); err != nil {
		return nil, err
	}
	places := make([]answer.Place, len(messages))
	for at, message := range messages {
		places[at] = answer.Place{Partition: message.Partition, Offset: message.Offset}
	}
	return answer.Reply{"at": places}, nil
}

func plain(message *sarama.ConsumerMessage) answer.Record {
	record := answer.Record{Key: string(message.Key), Value: string(message.Value), Headers: [][2]string{}, Timestamp: message.Timestamp.UnixMilli(),
		Partition: message.Partition, Offset: message.Offset}
	for _, header := range message.Headers {
		record.Headers = append(record.Headers, [2]string{string(header.Key), string(header.Value)})
	}
	return record
}

// collector reads until `records` has room for no more; every record goes through one channel so that the order of a partition stays.
type collector struct{ records chan answer.Record }

func (c collector) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (c collector) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (c collector) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	defer session.Commit()
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			select {
			case c.records <- plain(message):
				session.MarkMessage(message, "")
			case <-session.Context().Done():
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func consume(ask *answer.Request) (answer.Reply, error) {
	group, err := sarama.NewConsumerGroup(brokers(), ask.Group, config())
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), answer.ReadFor)
	defer stop()
	self, done := collector{make(chan answer.Record)}, make(chan error, 1)
	go func() { done <- group.Consume(ctx, []string{ask.Topic}, self) }()
	records := take(ctx, self.records, ask.Count)
	stop()
	return answer.Reply{"records": records}, errors.Join(<-done, group.Close())
}

func take(ctx context.Context, from chan answer.Record, count int) []answer.Record {
	records := []answer.Record{}
	for len(records) < count {
		select {
		case record := <-from:
			records = append(records, record)
		case <-ctx.Done():
			return records
		}
	}
	return records
}

func committed(ask *answer.Request) (answer.Reply, error) {
	adm, err := sarama.NewClusterAdmin(brokers(), config())
	if err != nil {
		return nil, err
	}
	defer adm.Close()
	found, err := adm.ListConsumerGroupOffsets(ask.Group, map[string][]int32{ask.Topic: {0, 1, 2}})
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for partition, block := range found.Blocks[ask.Topic] {
		if block.Offset >= 0 {
			offsets[partition] = block.Offset
		}
	}
	return answer.Reply{"offsets": offsets}, nil
}

func seek(ask *answer.Request) (answer.Reply, error) {
	client, err := sarama.NewClient(brokers(), config())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return nil, err
	}
	partitions, err := consumer.Partitions(ask.Topic)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), answer.ReadFor)
	defer stop()
	offsets, records := map[int32]int64{}, make(chan answer.Record)
	for _, partition := range partitions {
		offset, err := client.GetOffset(ask.Topic, partition, ask.Timestamp)
		if err != nil {
			return nil, err
		}
		if offset < 0 {
			continue
		}
		offsets[partition] = offset
		one, err := consumer.ConsumePartition(ask.Topic, partition, offset)
		if err != nil {
			return nil, err
		}
		defer one.Close()
		go func() {
			for message := range one.Messages() {
				select {
				case records <- plain(message):
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return answer.Reply{"offsets": offsets, "records": take(ctx, records, ask.Count)}, nil
}

type member struct {
	answer.Assignment
	topic   string
	group   sarama.ConsumerGroup
	stop    context.CancelFunc
	stopped chan struct{}
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.Set(session.Claims()[m.topic])
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.Clear()
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case _, open := <-claim.Messages():
			if !open {
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func join(ask *answer.Request) (answer.Reply, error) {
	config := config()
	config.Consumer.Group.InstanceId = ask.InstanceID
	group, err := sarama.NewConsumerGroup(brokers(), ask.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	self := &member{topic: ask.Topic, group: group, stop: stop, stopped: make(chan struct{})}
	members[ask.Member] = self
	go func() {
		defer close(self.stopped)
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{ask.Topic}, self); err != nil && ctx.Err() == nil {
				self.Fail(err)
				return
			}
		}
	}()
	return nil, nil
}

func leave(ask *answer.Request) (answer.Reply, error) {
	self := members[ask.Member]
	delete(members, ask.Member)
	self.stop()
	<-self.stopped
	return nil, self.group.Close()
}

func remove(ask *answer.Request) (answer.Reply, error) {
	adm, err := sarama.NewClusterAdmin(brokers(), config())
	if err != nil {
		return nil, err
	}
	defer adm.Close()
	if err := adm.DeleteRecords(ask.Topic, ask.Before); err != nil {
		return nil, err
	}
	client, err := sarama.NewClient(brokers(), config())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	earliest := map[int32]int64{}
	for partition := range ask.Before {
		if earliest[partition], err = client.GetOffset(ask.Topic, partition, sarama.OffsetOldest); err != nil {
			return nil, err
		}
	}
	if err := adm.DeleteConsumerGroup(ask.Group); err != nil {
		return nil, err
	}
	if err := adm.DeleteTopic(ask.Topic); err != nil {
		return nil, err
	}
	listed, err := adm.ListConsumerGroups()
	if err != nil {
		return nil, err
	}
	groups := []string{}
	for group := range listed {
		groups = append(groups, group)
	}
	topics, err := names(adm)
	return answer.Reply{"earliest": earliest, "groups": groups, "topics": topics}, err
}

func transaction(ask *answer.Request) (answer.Reply, error) {
	config := config()
	config.Producer.Idempotent = true
	config.Producer.Transaction.ID = ask.ID
	config.Net.MaxOpenRequests = 1
	producer, err := sarama.NewSyncProducer(brokers(), config)
	if err != nil {
		return nil, err
	}
	return nil, producer.Close()
}
