import { z } from 'zod';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { Csv } from '../../platform/http/operation.ts';
import { csvLine } from '../ledger/statements.ts';
import type { AccountStatement, GameStatement, SellerStatement } from './statements.ts';

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export const PeriodFields = {
  month: z
    .string()
    .regex(MONTH)
    .optional()
    .meta({ description: 'A month in UTC, such as 2026-11; by default the current one.' }),
  from: z.iso.date().optional().meta({ description: 'The first day, instead of a month.' }),
  to: z.iso.date().optional().meta({ description: 'The last day, at most a year after the first; by default today.' }),
};

const OPENING = Integer.meta({ description: 'The balance before the period. With all movements it is `closing`.' });
const CLOSING = Integer.meta({ description: 'The balance at the end of the period.' });
const DATES = {
  date_from: Timestamp.meta({ description: 'Unix seconds, inclusive.' }),
  date_until: Timestamp.meta({ description: 'Unix seconds, exclusive.' }),
};

export const SellerStatementObject = z
  .object({
    user_id: Id,
    game_id: Id,
    currency: z
      .string()
      .meta({ description: '`TOKEN:1` for earnings that are pending in game 1, or the currency of what can be paid.' }),
    ...DATES,
    opening: OPENING,
    sales: Integer.meta({ description: 'Shares in the sales of mods. They are pending, and hence in tokens.' }),
    refunds: Integer.meta({ description: 'What refunds took back, before taxes.' }),
    clearing: Integer.meta({ description: 'Tokens whose hold is over, and their value before taxes.' }),
    taxes: Integer.meta({ description: 'Withheld taxes, without what refunds returned.' }),
    fees: Integer.meta({ description: 'Fees of payouts.' }),
    payouts: Integer.meta({ description: 'Payouts without their fees, less those that came back.' }),
    transfers: Integer.meta({ description: 'What came from an account that was merged into this one, or went.' }),
    closing: CLOSING,
    in_transit: Integer.meta({ description: 'Payouts that had neither arrived nor failed at the end.' }),
  })
  .meta({ id: 'SellerStatement' });

type SellerStatementShown = z.output<typeof SellerStatementObject>;

export const toSellerStatement = (each: SellerStatement): SellerStatementShown => ({
  user_id: each.userId,
  game_id: each.gameId,
  currency: each.currency,
  date_from: each.from,
  date_until: each.until,
  opening: each.opening,
  sales: each.sales,
  refunds: each.refunds,
  clearing: each.clearing,
  taxes: each.taxes,
  fees: each.fees,
  payouts: each.payouts,
  transfers: each.transfers,
  closing: each.closing,
  in_transit: each.inTransit,
});

const AccountStatementObject = z
  .object({
    account: z.string().meta({ description: 'The kind of the account, such as `token_sales`.' }),
    provider: z.string().meta({ description: 'The payment provider of a `gateway`; otherwise empty.' }),
    currency: z.string(),
    says: z.string().meta({ description: 'What the account is for.' }),
    opening: OPENING,
    sales: Integer,
    refunds: Integer,
    clawbacks: Integer.meta({ description: 'Disputed payments, and what backends and stores took back.' }),
    clearing: Integer,
    payouts: Integer,
    transfers: Integer,
    closing: CLOSING,
  })
  .meta({ id: 'AccountStatement' });

export const GameStatementObject = z
  .object({ game_id: Id, ...DATES, accounts: z.array(AccountStatementObject) })
  .meta({ id: 'GameStatement' });

const toAccount = (each: AccountStatement): z.output<typeof AccountStatementObject> => ({
  account: each.account,
  provider: each.provider,
  currency: each.currency,
  says: each.says,
  opening: each.opening,
  sales: each.sales,
  refunds: each.refunds,
  clawbacks: each.clawbacks,
  clearing: each.clearing,
  payouts: each.payouts,
  transfers: each.transfers,
  closing: each.closing,
});

export const toGameStatement = ({ gameId, from, until, accounts }: GameStatement) => ({
  game_id: gameId,
  date_from: from,
  date_until: until,
  accounts: accounts.map(toAccount),
});

type Row = Readonly<Record<string, string | number>>;

/** The same fields as in JSON, one line per row. */
function csvOfRows(columns: readonly string[], rows: readonly Row[], filename: string): Csv {
  const lines = rows.map((row) => csvLine(columns.map((column) => row[column]!)));
  return new Csv(`${columns.join(',')}\r\n${lines.join('')}`, filename);
}

export const sellersCsv = (statements: readonly SellerStatement[], filename: string): Csv =>
  csvOfRows(Object.keys(SellerStatementObject.shape), statements.map(toSellerStatement), filename);

export function accountsCsv(statements: readonly GameStatement[], filename: string): Csv {
  const rows = statements
    .map(toGameStatement)
    .flatMap(({ accounts, ...game }) => accounts.map((each) => ({ ...game, ...each })));
  const columns = ['game_id', 'date_from', 'date_until', ...Object.keys(AccountStatementObject.shape)];
  return csvOfRows(columns, rows, filename);
}
