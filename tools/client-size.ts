import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { columns } from '../src/commands/invocation/command.ts';

const help = `npm run client-size

Bundles what pages use of the client, as Vite does it for the site, and prints the sizes, minified and with gzip.
Fails if what a browse page uses reaches 12,000 bytes.`;

export const BROWSE_BYTES_MAX = 12_000;

/** What a page imports, by the name of the page. */
export const PAGES = {
  browse: ['createClient', 'items', 'isApiError'],
  'sign in': ['createClient', 'requestEmailCode', 'exchangeEmailCode', 'startOauth', 'finishOauth'],
  upload: ['createClient', 'uploadFile'],
  download: ['createClient', 'download'],
  notifications: ['createClient', 'follow'],
} as const satisfies Record<string, readonly string[]>;

export interface Bundle {
  readonly code: string;
  readonly gzipBytes: number;
}

/** Bundles a module that exports these names of the client. */
export async function bundleOf(names: readonly string[]): Promise<Bundle> {
  const entry = 'virtual:page';
  const [output] = [
    await build({
      configFile: false,
      logLevel: 'error',
      resolve: { conditions: ['modstead-source'] },
      plugins: [
        {
          name: 'page',
          resolveId: (id) => (id === entry ? id : undefined),
          load: (id) => (id === entry ? `export { ${names.join(', ')} } from '@modstead/client';` : undefined),
        },
      ],
      build: {
        write: false,
        minify: true,
        target: 'es2023',
        modulePreload: false,
        rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' },
      },
    }),
  ].flat();
  if (!output || !('output' in output)) throw new Error('There is no bundle.');
  const code = output.output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('');
  return { code, gzipBytes: gzipSync(code, { level: 9 }).length };
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const rows: [string, string][] = [];
  let browseBytes = 0;
  for (const [page, names] of Object.entries(PAGES)) {
    const { code, gzipBytes } = await bundleOf(names);
    if (page === 'browse') browseBytes = gzipBytes;
    rows.push([page, `${code.length} bytes, ${gzipBytes} with gzip`]);
  }
  console.log(columns(rows));
  if (browseBytes < BROWSE_BYTES_MAX) return 0;
  console.error(`What a browse page uses has ${browseBytes} bytes, and should have less than ${BROWSE_BYTES_MAX}.`);
  return 1;
}

if (import.meta.main) process.exitCode = await main();
