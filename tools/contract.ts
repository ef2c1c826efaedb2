import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { operations } from '../src/composition/resources.ts';
import { openApiDocument } from '../src/platform/http/openapi/document.ts';
import { readableJson } from './json-layout.ts';

const help = `npm run contract [-- --check]

Writes contract/openapi.json from the declarations.

  --check   write nothing, and fail when it is not up to date
  --help    print this`;

const file = 'contract/openapi.json';

export const contractText = (): string => readableJson(openApiDocument(operations));

/** Describes the problem with the file in a sentence; undefined if it is up to date. */
export function contractProblem(): string | undefined {
  const kept = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
  return kept === contractText() ? undefined : `${file} is not up to date; npm run contract writes it.`;
}

function main(): number {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (!values.check) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, contractText());
    return 0;
  }
  const problem = contractProblem();
  if (problem) console.error(problem);
  return problem ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
