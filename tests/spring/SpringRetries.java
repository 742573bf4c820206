import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.retrytopic.RetryTopicComponentFactory;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationBuilder;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationSupport;
import org.springframework.kafka.retrytopic.RetryTopicHeaders;
import org.springframework.kafka.retrytopic.RetryTopicNamesProviderFactory;
import org.springframework.kafka.retrytopic.SuffixingRetryTopicNamesProviderFactory.SuffixingRetryTopicNamesProvider;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Two Spring applications on Pawl's topics, for tests/integration/spring_cases.py.
 *
 * <p>System properties: brokers; queue, retry and dead, Pawl's topics; delay_ms, the delay of the retry topic; prefix, of Spring's
 * own topics PREFIX-spring-dlt, PREFIX-orders and PREFIX-plain.
 *
 * <p>{@link Continues} has Pawl's topics as its own: Spring reads each record and hands its headers to a listener as the types
 * that Spring itself writes. Its retries fail, and its dead letters go to PREFIX-spring-dlt. Each record is a line of JSON.
 *
 * <p>{@link Fails} works PREFIX-orders, and its failed records go to Pawl's retry and dead-letter topics; those of PREFIX-plain
 * go to Pawl's queue. For each line `TOPIC ID KIND JSON` of the input it sends a record with CloudEvents' headers.
 *
 * <p>It ends with its input.
 */
public class SpringRetries {
    static final ObjectMapper JSON = new ObjectMapper();
    static final String BROKERS = System.getProperty("brokers");
    static final String QUEUE = System.getProperty("queue");
    static final String RETRY = System.getProperty("retry");
    static final String DEAD = System.getProperty("dead");
    static final long DELAY_MS = Long.getLong("delay_ms");
    static final String PREFIX = System.getProperty("prefix");

    public static void main(String[] arguments) throws Exception {
        try (var fails = new AnnotationConfigApplicationContext(Fails.class);
                var continues = new AnnotationConfigApplicationContext(Continues.class)) {
            var template = fails.getBean(KafkaTemplate.class);
            var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (var line = input.readLine(); line != null; line = input.readLine()) send(template, line.split(" ", 4));
        }
    }

    static void send(KafkaTemplate<?, ?> template, String[] words) throws Exception {
        template.send(MessageBuilder.withPayload(words[3])
                .setHeader(KafkaHeaders.TOPIC, words[0])
                .setHeader(KafkaHeaders.KEY, words[1])
                .setHeader("ce_specversion", "1.0")
                .setHeader("ce_id", words[1])
                .setHeader("ce_type", words[2])
                .setHeader("ce_source", "/spring")
                .build()).get();
    }

    /** The beans that both applications need. */
    static class Common extends RetryTopicConfigurationSupport {
        @Bean
        TaskScheduler scheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        KafkaTemplate<String, String> template() {
            return new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(Map.of(
                    ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, BROKERS,
                    ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, StringSerializer.class,
                    ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, StringSerializer.class)));
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory() {
            var factory = new ConcurrentKafkaListenerContainerFactory<String, String>();
            factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(Map.of(
                    ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, BROKERS,
                    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                    ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, StringDeserializer.class,
                    ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, StringDeserializer.class)));
            return factory;
        }

        static RetryTopicConfigurationBuilder retries(String topic) {
            return RetryTopicConfigurationBuilder.newInstance().includeTopic(topic).maxAttempts(2).fixedBackOff(DELAY_MS)
                    .doNotAutoCreateRetryTopics();
        }

        /** Pawl's retry topic instead of Spring's suffixes. */
        static RetryTopicComponentFactory names(String deadTopic) {
            return new RetryTopicComponentFactory() {
                @Override
                public RetryTopicNamesProviderFactory retryTopicNamesProviderFactory() {
                    return properties -> new SuffixingRetryTopicNamesProvider(properties) {
                        @Override
                        public String getTopicName(String topic) {
                            return properties.isDltTopic() ? deadTopic : properties.isRetryTopic() ? RETRY : topic;
                        }
                    };
                }
            };
        }
    }

    @Configuration
    @EnableKafka
    static class Continues extends Common {
        @Override
        protected RetryTopicComponentFactory createComponentFactory() {
            return names(PREFIX + "-spring-dlt");
        }

        @Bean
        RetryTopicConfiguration retryTopics(KafkaTemplate<String, String> template) {
            return retries(QUEUE).dltHandlerMethod("reader", "work").create(template);
        }

        @Bean
        Reader reader() {
            return new Reader();
        }
    }

    static class Reader {
        @KafkaListener(id = "queue", topics = "${queue}", groupId = "${prefix}-continues")
        void work(
                ConsumerRecord<String, String> record,
                @Header(name = RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS, required = false) Integer attempts,
                @Header(name = KafkaHeaders.ORIGINAL_TOPIC, required = false) String topic,
                @Header(name = KafkaHeaders.ORIGINAL_PARTITION, required = false) Integer partition,
                @Header(name = KafkaHeaders.ORIGINAL_OFFSET, required = false) Long offset,
                @Header(name = KafkaHeaders.ORIGINAL_TIMESTAMP, required = false) Long timestamp,
                @Header(name = KafkaHeaders.ORIGINAL_TIMESTAMP_TYPE, required = false) String timestampType,
                @Header(name = KafkaHeaders.ORIGINAL_CONSUMER_GROUP, required = false) String group,
                @Header(name = KafkaHeaders.EXCEPTION_FQCN, required = false) String exception,
                @Header(name = KafkaHeaders.EXCEPTION_MESSAGE, required = false) String message) throws IOException {
            say(record, attempts, topic, partition, offset, timestamp, timestampType, group, exception, message);
            if (record.topic().equals(RETRY)) throw new IllegalStateException("no retry works here");
        }

        @KafkaListener(id = "dead", topics = "${dead}", groupId = "${prefix}-dead")
        void bury(
                ConsumerRecord<String, String> record,
                @Header(name = RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS, required = false) Integer attempts,
                @Header(name = KafkaHeaders.DLT_ORIGINAL_TOPIC, required = false) String topic,
                @Header(name = KafkaHeaders.DLT_ORIGINAL_PARTITION, required = false) Integer partition,
                @Header(name = KafkaHeaders.DLT_ORIGINAL_OFFSET, required = false) Long offset,
                @Header(name = KafkaHeaders.DLT_ORIGINAL_TIMESTAMP, required = false) Long timestamp,
                @Header(name = KafkaHeaders.DLT_ORIGINAL_TIMESTAMP_TYPE, required = false) String timestampType,
                @Header(name = KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP, required = false) String group,
                @Header(name = KafkaHeaders.DLT_EXCEPTION_FQCN, required = false) String exception,
                @Header(name = KafkaHeaders.DLT_EXCEPTION_MESSAGE, required = false) String message) throws IOException {
            say(record, attempts, topic, partition, offset, timestamp, timestampType, group, exception, message);
        }
    }

    @Configuration
    @EnableKafka
    static class Fails extends Common {
        @Override
        protected RetryTopicComponentFactory createComponentFactory() {
            return names(DEAD);
        }

        @Bean
        RetryTopicConfiguration retryTopics(KafkaTemplate<String, String> template) {
            return retries(PREFIX + "-orders").notRetryOn(IllegalArgumentException.class).autoStartDltHandler(false)
                    .create(template);
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<String, String> plainFactory(KafkaTemplate<String, String> template) {
            var factory = kafkaListenerContainerFactory();
            var recoverer = new DeadLetterPublishingRecoverer(template, (record, error) -> new TopicPartition(QUEUE, -1));
            factory.setCommonErrorHandler(new DefaultErrorHandler(recoverer, new FixedBackOff(0, 0)));
            return factory;
        }

        @Bean
        Failing failing() {
            return new Failing();
        }
    }

    static class Failing {
        @KafkaListener(id = "orders", topics = "${prefix}-orders", groupId = "${prefix}-fails")
        void work(ConsumerRecord<String, String> record) {
            if (record.topic().equals(RETRY)) return;   // Left to Pawl.
            if (record.key().startsWith("fatal")) throw new IllegalArgumentException("no such order");
            throw new IllegalStateException("the points service is away");
        }

        @KafkaListener(id = "plain", topics = "${prefix}-plain", groupId = "${prefix}-plain",
                containerFactory = "plainFactory")
        void workPlain(ConsumerRecord<String, String> record) {
            throw new IllegalStateException("no plain work here");
        }
    }

    static void say(ConsumerRecord<String, String> record, Integer attempts, String topic, Integer partition, Long offset,
            Long timestamp, String timestampType, String group, String exception, String message) throws IOException {
        var said = new LinkedHashMap<String, Object>();
        said.put("read_at", System.currentTimeMillis());
        said.put("topic", record.topic());
        said.put("partition", record.partition());
        said.put("offset", record.offset());
        said.put("timestamp", record.timestamp());
        said.put("key", record.key());
        said.put("value", record.value());
        said.put("attempts", attempts);
        said.put("due", milliseconds(record, RetryTopicHeaders.DEFAULT_HEADER_BACKOFF_TIMESTAMP));
        said.put("first_seen", milliseconds(record, RetryTopicHeaders.DEFAULT_HEADER_ORIGINAL_TIMESTAMP));
        said.put("original", Arrays.asList(topic, partition, offset, timestamp, timestampType, group));
        said.put("exception", Arrays.asList(exception, message));
        var headers = new LinkedHashMap<String, String>();   // Latin-1: one character for each byte.
        for (var header : record.headers()) headers.put(header.key(), new String(header.value(), StandardCharsets.ISO_8859_1));
        said.put("headers", headers);
        synchronized (System.out) {
            System.out.println(JSON.writeValueAsString(said));
        }
    }

    /** As Spring's KafkaBackoffAwareMessageListenerAdapter and DeadLetterPublishingRecovererFactory read it. */
    static Long milliseconds(ConsumerRecord<?, ?> record, String name) {
        var header = record.headers().lastHeader(name);
        return header == null ? null : new BigInteger(header.value()).longValueExact();
    }
}
