import { resolve } from 'node:path';
import { columns, command, misuse, Refusal } from './invocation/command.ts';

export default command({
  name: 'export verify',
  usage: 'FOLDER|FILE.tar [--key PUBLIC_KEY]',
  says: 'Verifies an archive of "export": its signature, and the digest of every part and file.',
  json: true,
  positionals: true,
  options: {
    key: { type: 'string', value: 'PUBLIC_KEY', says: 'fail unless this key, which "export" printed, signed it' },
  },
  run: async ({ positionals, values }) => {
    const [target, more] = positionals;
    if (target === undefined || more !== undefined) throw misuse('Name one folder or tar file.');
    const { openArchive } = await import('./archives.ts');
    const { verify } = await import('../moving/archive/contents.ts');
    return openArchive(resolve(target), async (source) => {
      const { rows, files, signedBy, manifest } = await verify(source);
      if (values.key !== undefined && values.key !== signedBy)
        throw new Refusal(`The archive is intact, but ${signedBy ? `signed by ${signedBy}` : 'not signed'}.`);
      return {
        object: { rows, files, source: manifest.source, public_key: signedBy ?? null },
        text: columns([
          ['Intact', `${rows} rows and ${files} files of ${manifest.source}`],
          ['Signed by', signedBy ? `${signedBy}${values.key ? '' : '; pass --key to require a key'}` : 'nobody'],
        ]),
      };
    });
  },
});
