-- Who was called, and more reasons for which a request needs a person.

-- The provider and the account of the call at called_at, as the operation named them; NULL: it named none.
ALTER TABLE idempotency_keys ADD COLUMN call_target TEXT;

ALTER TABLE attention DROP CONSTRAINT attention_reason_check;
ALTER TABLE attention ADD CONSTRAINT attention_reason_length CHECK (length(reason) BETWEEN 1 AND 50);
