import { packageImport } from './package-import.ts';

export default packageImport({
  name: 'contentdb',
  says: 'Imports the packages of a ContentDB, such as that of Luanti.',
  url: 'https://content.luanti.org',
  hosts: [],
  of: { value: 'TYPE', fallback: 'mod', says: 'mod, game or txp (default: mod)' },
  pages: async (fetcher, type) => (await import('../moving/origins/contentdb.ts')).contentdbPages(fetcher, type),
});
