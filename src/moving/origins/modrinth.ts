import type { Fetcher } from './fetcher.ts';
import { type Package, type Pages, secondsOf } from './packages.ts';

interface Hit {
  readonly project_id: string;
  readonly author: string;
}

interface Project {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly body?: string;
  readonly published: string;
  readonly updated: string;
  readonly downloads?: number;
  readonly icon_url?: string | null;
  readonly categories?: readonly string[];
  readonly additional_categories?: readonly string[];
  readonly source_url?: string | null;
  readonly gallery?: readonly { readonly url: string; readonly ordering?: number }[];
}

interface ListedVersion {
  readonly id: string;
  readonly version_number: string;
  readonly changelog?: string | null;
  readonly date_published: string;
  readonly files: readonly {
    readonly url: string;
    readonly filename: string;
    readonly primary?: boolean;
    readonly hashes?: { readonly sha512?: string };
  }[];
  readonly dependencies?: readonly { readonly project_id?: string | null; readonly dependency_type: string }[];
}

const PAGE = 100;

/** The projects that a search with these facets finds, oldest first in the order of the search. */
export const modrinthPages = (fetcher: Fetcher, facets: string): Pages =>
  async function* (from) {
    for (let offset = from; ; offset += PAGE) {
      const found = await fetcher.json<{ hits: readonly Hit[]; total_hits: number }>('search', {
        facets,
        index: 'newest',
        limit: PAGE,
        offset,
      });
      const authors = new Map(found.hits.map(({ project_id, author }) => [project_id, author]));
      const ids = JSON.stringify([...authors.keys()]);
      const projects = authors.size === 0 ? [] : await fetcher.json<readonly Project[]>('projects', { ids });
      const packages: Package[] = [];
      await fetcher.each(projects, async (project) => {
        const versions = await fetcher.json<readonly ListedVersion[]>(
          `project/${encodeURIComponent(project.id)}/version`,
        );
        packages.push(toPackage(project, authors.get(project.id)!, versions));
      });
      const next = offset + PAGE < found.total_hits && found.hits.length > 0 ? offset + PAGE : true;
      yield { packages: packages.sort((one, other) => (one.key < other.key ? -1 : 1)), next };
      if (next === true) return;
    }
  };

function toPackage(project: Project, author: string, listed: readonly ListedVersion[]): Package {
  const versions = listed.toSorted((one, other) => secondsOf(other.date_published) - secondsOf(one.date_published));
  const gallery = (project.gallery ?? []).toSorted((one, other) => (one.ordering ?? 0) - (other.ordering ?? 0));
  return {
    key: project.id,
    author,
    name: project.title,
    summary: project.description,
    description: project.body || project.description,
    dateAdded: secondsOf(project.published),
    dateUpdated: secondsOf(project.updated),
    homepage: project.source_url ?? undefined,
    tags: [...(project.categories ?? []), ...(project.additional_categories ?? [])],
    downloads: project.downloads ?? 0,
    pictures: [...(project.icon_url ? [project.icon_url] : []), ...gallery.map(({ url }) => url)],
    dependencies: (versions[0]?.dependencies ?? []).flatMap(({ project_id, dependency_type }) =>
      dependency_type === 'required' && project_id ? [project_id] : [],
    ),
    versions: versions.flatMap((version) => {
      const file = version.files.find(({ primary }) => primary) ?? version.files[0];
      return file
        ? [
            {
              ...toVersion(version),
              url: file.url,
              filename: file.filename,
              digests: { ...(file.hashes?.sha512 && { sha512: file.hashes.sha512 }) },
            },
          ]
        : [];
    }),
  };
}

const toVersion = ({ id, version_number, changelog, date_published }: ListedVersion) => ({
  key: id,
  number: version_number,
  changelog: changelog ?? '',
  date: secondsOf(date_published),
});
