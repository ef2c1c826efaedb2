import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;
const ORDERS = ['newest', 'slowest'] as const;

export async function load(event: PageServerLoadEvent) {
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const order = ORDERS.find((each) => each === event.url.searchParams.get('order')) ?? 'newest';
  const list = await apiOf(event).call('GET /staff/slow-requests', { order, ...part });
  return { rows: list.data, order, paging: { ...paging, total: list.result_total } };
}
