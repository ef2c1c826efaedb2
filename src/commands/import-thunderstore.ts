import { packageImport } from './package-import.ts';

export default packageImport({
  name: 'thunderstore',
  says: 'Imports the packages of a Thunderstore community.',
  url: 'https://thunderstore.io',
  hosts: ['gcdn.thunderstore.io'],
  of: { value: 'COMMUNITY', says: 'the community, such as valheim' },
  pages: async (fetcher, community) =>
    (await import('../moving/origins/thunderstore.ts')).thunderstorePages(fetcher, community),
});
