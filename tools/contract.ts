import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { operations } from '../src/composition/resources.ts';
import { openApiDocument } from '../src/platform/http/openapi/document.ts';
import { clientContract, clientErrorRefs } from './client-contract.ts';
import { readableJson } from './json-layout.ts';

const help = `npm run contract [-- --check]

Writes contract/openapi.json from the declarations, and the generated files of the client from it.

  --check   write nothing, and fail when a file is not up to date
  --help    print this`;

function contractFiles(): Record<string, string> {
  const document = openApiDocument(operations);
  return {
    'contract/openapi.json': readableJson(document),
    'client/src/contract/operations.ts': clientContract(document),
    'client/src/contract/error-refs.ts': clientErrorRefs(document),
  };
}

/** Describes the problem with the first file that is not up to date; undefined if all are. */
export function contractProblem(): string | undefined {
  const isStale = ([file, text]: [string, string]) => !fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text;
  const stale = Object.entries(contractFiles()).find(isStale);
  return stale && `${stale[0]} is not up to date; npm run contract writes it.`;
}

function main(): number {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (!values.check) {
    for (const [file, text] of Object.entries(contractFiles())) {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    }
    return 0;
  }
  const problem = contractProblem();
  if (problem) console.error(problem);
  return problem ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
