import type { Output } from '@modstead/client';

type Game = Output<'GET /games'>['data'][number];

export const SORTS = [
  'popular',
  '-date_live',
  '-date_updated',
  '-ratings_weighted_aggregate',
  '-subscribers_total',
  '-downloads_total',
] as const;
export const PRICES = ['all', 'free', 'paid'] as const;
export const MATURITIES = ['all', 'none', 'only'] as const;

/** Bits of `monetization_options` of games. */
const MONETIZATION = 1;

/** What the address of a hub asks for. Unknown values are ignored, so that an old address still works. */
export interface Filters {
  readonly query: string;
  readonly sort: (typeof SORTS)[number];
  readonly tags: readonly string[];
  readonly platform: string;
  readonly price: (typeof PRICES)[number];
  readonly maturity: (typeof MATURITIES)[number];
}

export type Offered = ReturnType<typeof offeredBy>;

/** The filters that make sense in this game. */
export function offeredBy(game: Game) {
  return {
    groups: game.tag_options.filter(({ hidden, tags }) => !hidden && tags.length > 0),
    platforms: game.platforms.map(({ platform, label }) => ({ platform, label: label || platform })),
    hasPrices: (game.monetization_options & MONETIZATION) !== 0,
    hasMature: game.maturity_options !== 0,
  };
}

const known = <Name extends string>(names: readonly Name[], asked: string | null): Name =>
  names.find((name) => name === asked) ?? names[0]!;

export function filtersOf({ searchParams }: URL, offered: Offered): Filters {
  const all = offered.groups.flatMap(({ tags }) => tags);
  const platform = searchParams.get('platform') ?? '';
  return {
    query: searchParams.get('q')?.trim() ?? '',
    sort: known(SORTS, searchParams.get('sort')),
    tags: [...new Set(searchParams.getAll('tag'))].filter((tag) => all.includes(tag)),
    platform: offered.platforms.some((each) => each.platform === platform) ? platform : '',
    price: offered.hasPrices ? known(PRICES, searchParams.get('price')) : 'all',
    maturity: offered.hasMature ? known(MATURITIES, searchParams.get('maturity')) : 'all',
  };
}

/** `revenue_type` of the API: 0 free, 1 paid, 2 both. */
const REVENUE = { all: 2, free: 0, paid: 1 } as const;

/** The filters as parameters of `GET /games/{game_id}/mods`. */
export const parametersOf = ({ query, sort, tags, price, maturity }: Filters) => ({
  _sort: sort,
  revenue_type: REVENUE[price],
  ...(query && { _q: query }),
  ...(tags.length > 0 && { tags: tags.join(',') }),
  ...(maturity === 'none' && { maturity_option: 0 }),
  ...(maturity === 'only' && { 'maturity_option-not': 0 }),
});

export const headersOf = ({ platform }: Filters): Record<string, string> =>
  platform ? { 'x-service-platform': platform } : {};
