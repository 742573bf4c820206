# Jobs that Sidekiq runs in the tests. Each run and each error adds an entry in Redis, for which a test can wait.
require "sidekiq"
require "sidekiq/api"

Sidekiq.configure_server do |config|
  config.options[:poll_interval_average] = 1   # Due retries are found within a second or two.
  # Told once the job lies in `retry` or `dead`.
  config.error_handlers << lambda { |error, _| Sidekiq.redis { |redis| redis.rpush("errors", error.message) } }
end

class Receipt
  include Sidekiq::Worker

  def perform(*args)
    Sidekiq.redis { |redis| redis.rpush("effects", JSON.generate([jid, *args])) }
  end
end

class Failing
  include Sidekiq::Worker

  def perform(*)
    raise "SMTP 550: no such mailbox"
  end
end

class Hopeless < Failing
  sidekiq_options retry: 0
end
