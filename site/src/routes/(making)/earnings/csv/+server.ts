import { items } from '@modstead/client';
import type { RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';
import { csvAnswer } from '#making/csv.ts';

const HEAD = ['id', 'game_id', 'status', 'currency', 'amount', 'fee', 'period', 'date_added', 'date_paid', 'reason'];
const timeOf = (seconds: number) => (seconds > 0 ? new Date(seconds * 1000).toISOString() : '');

/** All payouts of the visitor; amounts are in the smallest unit of their currency, as in the API. */
export async function GET(event: RequestEvent) {
  const rows: (string | number)[][] = [];
  for await (const payout of items(apiOf(event), 'GET /me/payouts')) {
    const { id, game_id, status, currency, amount, fee, period, date_added, date_paid, reason } = payout;
    rows.push([id, game_id, status, currency, amount, fee, period, timeOf(date_added), timeOf(date_paid), reason]);
  }
  return csvAnswer('payouts.csv', [HEAD, ...rows]);
}
