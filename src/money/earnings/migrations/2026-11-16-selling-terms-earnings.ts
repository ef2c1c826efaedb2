import type { Migration } from '../../../platform/database/migrate.ts';

const DAY = 86_400;
const HOLD_DAYS = 30;
const HOLD = {
  sqlite: "json_extract(t.terms, '$.hold_days')",
  postgres: "(t.terms::json->>'hold_days')::bigint",
};
const CURRENCY = { sqlite: "json_extract(t.terms, '$.currency')", postgres: "t.terms::json->>'currency'" };

export const earningsTable: Migration = {
  // After the tables of purchases and terms, whose sales it takes over.
  name: '2026-11-16-selling-terms-earnings',
  up: ({ id, integer, text }, dialect) => [
    `create table earnings (
      id ${id},
      sale_id ${integer} not null references ledger_transactions (id),
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      mod_id ${integer} not null, -- no key, stays: the record of a sale outlives the mod
      terms_id ${integer} not null, -- no key: 0 for the defaults
      tokens ${integer} not null check (tokens > 0),
      currency ${text} not null,
      amount ${integer} not null,
      withheld ${integer} not null,
      remainder_micros ${integer} not null,
      status ${text} not null,
      cleared_id ${integer} not null, -- no key: 0 until it clears
      date_added ${integer} not null,
      date_due ${integer} not null,
      date_cleared ${integer} not null,
      date_ended ${integer} not null
    )`,
    'create index earnings_by_sale on earnings (sale_id, id)',
    "create index earnings_due on earnings (date_due) where status = 'pending'",
    'create index earnings_by_user on earnings (user_id, game_id, cleared_id, id)',
    `insert into earnings (sale_id, user_id, game_id, mod_id, terms_id, tokens, currency, amount, withheld,
        remainder_micros, status, cleared_id, date_added, date_due, date_cleared, date_ended)
      select p.transaction_id, a.user_id, p.game_id, p.mod_id, p.terms_id, e.amount, coalesce(${CURRENCY[dialect]}, 'USD'),
        0, 0, 0, case when p.status = 'paid' then 'pending' else 'taken_back' end, 0, p.date_added,
        p.date_added + coalesce(${HOLD[dialect]}, ${HOLD_DAYS}) * ${DAY}, 0, p.date_refunded
      from purchases p join ledger_entries e on e.transaction_id = p.transaction_id
      join ledger_accounts a on a.id = e.account_id and a.kind = 'pending_earnings'
      left join selling_terms t on t.id = p.terms_id order by e.id`,
  ],
};
