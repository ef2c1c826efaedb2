import type { Api } from '../api.ts';
import type { Books, Person } from './books.ts';

const sum = (values: Iterable<number>) => [...values].reduce((all, each) => all + each, 0);

/** The sum of each kind of account, according to the model. */
export const sumsIn = (books: Books, people: readonly Person[]): Record<string, number> => ({
  deficit: 0 - sum(people.map(({ deficit }) => deficit)),
  gateway: 0 - books.money,
  issued_tokens: 0 - books.issued,
  pending_earnings: sum(books.earnings.values()),
  platform_fee: books.fee,
  studio_share: books.studio,
  token_sales: books.money,
  wallet: sum(people.map(({ balance }) => balance)),
});

const NOTHING = { deficit: 0, gateway: 0, issued_tokens: 0, pending_earnings: 0 };
const NO_SHARES = { platform_fee: 0, studio_share: 0, token_sales: 0, wallet: 0 };

/** The same according to the ledger. */
export async function sumsOf(api: Api, { id }: { readonly id: number }): Promise<Record<string, number>> {
  const rows = await api
    .app()
    .db.query.selectFrom('ledger_accounts')
    .select(['kind', ({ fn }) => fn.sum<number | string>('balance').as('balance')])
    .where('game_id', '=', id)
    .groupBy('kind')
    .execute();
  return { ...NOTHING, ...NO_SHARES, ...Object.fromEntries(rows.map(({ kind, balance }) => [kind, Number(balance)])) };
}
