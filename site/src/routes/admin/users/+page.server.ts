import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;
const BANNED = 4;

/** An address finds by email, a number by id, anything else by name. */
function filterOf(text: string): Record<string, string | number> {
  if (text === '') return {};
  if (text.includes('@')) return { email: text.toLowerCase() };
  if (/^#?\d+$/.test(text)) return { id: Number(text.replace('#', '')) };
  return { 'username-lk': `*${text}*` };
}

export async function load(event: PageServerLoadEvent) {
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const asked = (event.url.searchParams.get('user') ?? '').trim();
  const only = event.url.searchParams.get('only') ?? '';
  const list = await apiOf(event).call('GET /staff/users', {
    ...filterOf(asked),
    ...(only === 'banned' && { status: BANNED }),
    ...(only === 'locked' && { 'date_locked-min': 1 }),
    _sort: '-id',
    ...part,
  });
  return { rows: list.data, asked, only, paging: { ...paging, total: list.result_total } };
}
