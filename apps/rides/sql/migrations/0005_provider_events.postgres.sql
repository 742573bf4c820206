-- Events that a provider sent us, each once: charge.succeeded and charge.refunded of Stripe.

CREATE TABLE provider_events (
    id              TEXT PRIMARY KEY CHECK (length(id) <= 255),  -- The provider's: "evt_1".
    type            TEXT NOT NULL CHECK (length(type) <= 100),
    created_at      TIMESTAMPTZ NOT NULL,  -- By the provider's clock.
    received_at     TIMESTAMPTZ NOT NULL,
    charge_id       TEXT NOT NULL,
    amount          BIGINT NOT NULL,
    amount_refunded BIGINT NOT NULL,
    object          TEXT NOT NULL,  -- What the event says of the charge, as JSON.
    call_key        TEXT,  -- The key of the call that caused the event. NULL: the provider does not say it.
    -- recorded: it fits no ride yet. applied: its ride agrees. settled: it settled the request in doubt of its ride.
    state           TEXT NOT NULL DEFAULT 'recorded' CHECK (state IN ('recorded', 'applied', 'settled'))
);

CREATE INDEX provider_events_charge ON provider_events (charge_id);
