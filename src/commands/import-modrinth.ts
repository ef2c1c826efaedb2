import { packageImport } from './package-import.ts';

export default packageImport({
  name: 'modrinth',
  says: 'Imports the projects of Modrinth that a search with facets finds.',
  url: 'https://api.modrinth.com/v2',
  hosts: ['cdn.modrinth.com'],
  of: { value: 'FACETS', says: 'facets of the search, such as [["project_type:mod"],["author:someone"]]' },
  pages: async (fetcher, facets) => (await import('../moving/origins/modrinth.ts')).modrinthPages(fetcher, facets),
});
