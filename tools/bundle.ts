import { parseArgs } from 'node:util';
import { BUNDLE_FOLDER } from '../bin/bundle.mjs';
import { bundleInto } from './bundling.ts';

const help = `npm run bundle

Bundles the program into few files in build/, as "npm ci" does. "npm start" runs them until a source changes.`;

const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
if (values.help) console.log(help);
else {
  // The program also runs without a bundle, so a failure is reported and not thrown.
  await bundleInto(BUNDLE_FOLDER).catch((error: unknown) =>
    console.error(`the program could not be bundled, and starts from its sources: ${error}`),
  );
}
