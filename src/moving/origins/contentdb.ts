import type { Fetcher } from './fetcher.ts';
import { type Package, type Pages, secondsOf } from './packages.ts';

interface Listed {
  readonly author: string;
  readonly name: string;
}

interface Detail extends Listed {
  readonly title: string;
  readonly short_description: string;
  readonly long_description?: string | null;
  readonly created_at?: string;
  readonly website?: string | null;
  readonly repo?: string | null;
  readonly tags?: readonly string[];
  readonly downloads?: number;
  readonly content_warnings?: readonly string[];
  readonly screenshots?: readonly (string | { readonly url: string })[];
}

interface Release {
  readonly id: number;
  readonly name?: string;
  readonly title: string;
  readonly release_date: string;
  readonly release_notes?: string | null;
  readonly url: string;
}

type Dependencies = Readonly<
  Record<string, readonly { readonly is_optional: boolean; readonly packages: readonly string[] }[]>
>;

const PAGE = 100;

/** The packages of a type: `mod`, `game` or `txp`. */
export const contentdbPages = (fetcher: Fetcher, type: string): Pages =>
  async function* (from) {
    const all = await fetcher.json<readonly Listed[]>('api/packages/', { type });
    const keys = all.map(({ author, name }) => `${author}/${name}`).sort();
    for (let start = from; start < keys.length || start === 0; start += PAGE) {
      const packages: Package[] = [];
      await fetcher.each(keys.slice(start, start + PAGE), async (key) => {
        packages.push(await packageOf(fetcher, key));
      });
      const next = start + PAGE < keys.length ? start + PAGE : true;
      yield { packages: packages.sort((one, other) => (one.key < other.key ? -1 : 1)), next };
      if (next === true) return;
    }
  };

async function packageOf(fetcher: Fetcher, key: string): Promise<Package> {
  const path = `api/packages/${key.split('/').map(encodeURIComponent).join('/')}`;
  const detail = await fetcher.json<Detail>(`${path}/`);
  const listed = await fetcher.json<readonly Release[]>(`${path}/releases/`);
  const needs = (await fetcher.optional<Dependencies>(`${path}/dependencies/`)) ?? {};
  const releases = listed.toSorted((one, other) => other.id - one.id);
  const added = secondsOf(detail.created_at ?? releases.at(-1)?.release_date);
  return {
    key,
    author: detail.author,
    name: detail.title,
    summary: detail.short_description,
    description: detail.long_description || detail.short_description,
    dateAdded: added,
    dateUpdated: Math.max(added, secondsOf(releases[0]?.release_date)),
    homepage: detail.website ?? detail.repo ?? undefined,
    tags: detail.tags ?? [],
    isMature: (detail.content_warnings ?? []).length > 0,
    downloads: detail.downloads ?? 0,
    pictures: (detail.screenshots ?? []).map((each) => (typeof each === 'string' ? each : each.url)),
    // Several packages can satisfy a dependency; the first one is the preferred.
    dependencies: (needs[key] ?? []).flatMap(({ is_optional, packages }) =>
      is_optional || !packages[0] ? [] : [packages[0]],
    ),
    versions: releases.map((release) => ({
      key: `${key}/${release.id}`,
      number: release.name ?? release.title,
      changelog: release.release_notes ?? '',
      date: secondsOf(release.release_date),
      url: release.url,
      filename: `${detail.name}-${release.id}.zip`,
    })),
  };
}
