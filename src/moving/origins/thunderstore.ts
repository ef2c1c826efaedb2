import type { Fetcher } from './fetcher.ts';
import { type Package, type Pages, secondsOf } from './packages.ts';

interface ListedVersion {
  readonly full_name: string;
  readonly description: string;
  readonly icon?: string;
  readonly version_number: string;
  readonly dependencies?: readonly string[];
  readonly download_url: string;
  readonly downloads?: number;
  readonly date_created: string;
  readonly website_url?: string;
  readonly is_active?: boolean;
}

interface Listed {
  readonly name: string;
  readonly full_name: string;
  readonly owner: string;
  readonly date_created: string;
  readonly date_updated: string;
  readonly has_nsfw_content?: boolean;
  readonly categories?: readonly string[];
  readonly versions: readonly ListedVersion[];
}

const PAGE = 100;

/** The packages of a community. Thunderstore lists all of them with all versions in one answer. */
export const thunderstorePages = (fetcher: Fetcher, community: string): Pages =>
  async function* (from) {
    const all = await fetcher.json<readonly Listed[]>(`c/${encodeURIComponent(community)}/api/v1/package/`);
    // The order of the list changes with every upload; this one does not.
    const sorted = all.toSorted((one, other) => (one.full_name < other.full_name ? -1 : 1));
    for (let start = from; start < sorted.length || start === 0; start += PAGE) {
      const next = start + PAGE < sorted.length ? start + PAGE : true;
      yield { packages: sorted.slice(start, start + PAGE).map(toPackage), next };
      if (next === true) return;
    }
  };

function toPackage({ name, full_name, owner, categories = [], versions, ...listed }: Listed): Package {
  const active = versions
    .filter(({ is_active }) => is_active !== false)
    .toSorted((one, other) => secondsOf(other.date_created) - secondsOf(one.date_created));
  const [latest] = active;
  return {
    key: full_name,
    author: owner,
    name: name.replaceAll('_', ' '),
    summary: latest?.description ?? '',
    description: latest?.description ?? '',
    dateAdded: secondsOf(listed.date_created),
    dateUpdated: secondsOf(listed.date_updated),
    homepage: latest?.website_url,
    tags: categories,
    isMature: listed.has_nsfw_content === true,
    downloads: versions.reduce((sum, { downloads = 0 }) => sum + downloads, 0),
    pictures: latest?.icon ? [latest.icon] : [],
    // `Owner-Name-1.2.3` depends on the package, because a mod depends on mods.
    dependencies: (latest?.dependencies ?? []).map((dependency) => dependency.replace(/-[^-]*$/, '')),
    versions: active.map((version) => ({
      key: version.full_name,
      number: version.version_number,
      changelog: '',
      date: secondsOf(version.date_created),
      url: version.download_url,
      filename: `${version.full_name}.zip`,
    })),
  };
}
