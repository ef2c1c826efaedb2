import { parseArgs } from 'node:util';

/** The options of a benchmark, all of them texts. With `--help` it prints them with the explanation, and exits. */
export function optionsOf<D extends Record<string, string>>(command: string, defaults: D, help: string): D {
  const ofTexts = Object.entries(defaults).map(([name, text]) => [name, { type: 'string', default: text }] as const);
  const { values } = parseArgs({
    options: { ...Object.fromEntries(ofTexts), help: { type: 'boolean' } },
  });
  if (values['help']) {
    const shown = Object.entries(defaults).map(([name, text]) => `--${name} ${text}`);
    console.log(`npm run ${command} [-- ${shown.join(' ')}]\n${help}`);
    process.exit(0);
  }
  return values as unknown as D;
}
