import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CONSTRUCTS, ENGINES, type Engine, lint, statementsIn } from './sql-constructs.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { log: { type: 'string' }, examples: { type: 'boolean' }, help: { type: 'boolean' } },
});

const TESTS = ['test/authorisation', 'test/contract'];
const PORT = 20_000 + (process.pid % 20_000);

if (values.help)
  console.log(`npm run sql-lint [-- --examples] [TEST…]
Runs tests on a PostgreSQL that logs every statement (by default ${TESTS.join(' and ')}, which call each operation), and counts the
statements that distributed engines with PostgreSQL's protocol do not take, or take with another meaning. The list is in
tools/sql-constructs.ts. It needs Debian's postgresql; --log FILE reads the log of another run instead, with
log_statement=all and log_line_prefix='@@'.`);
else report(statementsIn(values.log === undefined ? recorded() : readFileSync(values.log, 'utf8')));

function report(statements: readonly string[]): void {
  const found = lint(statements);
  console.log(`${statements.length} different statements\n`);
  console.log(`| Construct | Statements | ${ENGINES.join(' | ')} |`);
  console.log(`| --- | --- | ${ENGINES.map(() => '---').join(' | ')} |`);
  for (const { name, engines } of CONSTRUCTS) {
    const matching = found.get(name) ?? [];
    if (matching.length === 0) continue;
    const verdicts = ENGINES.map((engine: Engine) => engines[engine] ?? 'yes');
    console.log(`| ${name} | ${matching.length} | ${verdicts.join(' | ')} |`);
    if (values.examples) for (const statement of matching.slice(0, 5)) console.log(`    ${statement.slice(0, 200)}`);
  }
  const absent = CONSTRUCTS.filter(({ name }) => !found.has(name)).map(({ name }) => name);
  console.log(`\nNot used: ${absent.join(', ') || 'none'}`);
}

/** The log of a server that exists for these tests alone. */
function recorded(): string {
  const [programs] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();
  if (!programs) throw new Error('Install the package postgresql.');
  const folder = mkdtempSync(join(tmpdir(), 'modstead-sql-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['postgres:', folder]);
  chmodSync(folder, 0o755);
  const asServer = (program: string, ...args: string[]) => {
    const command = [join(programs, program), ...args];
    return isRoot
      ? execFileSync('runuser', ['-u', 'postgres', '--', ...command], { stdio: 'ignore' })
      : execFileSync(command[0]!, command.slice(1), { stdio: 'ignore' });
  };
  const [data, log] = [join(folder, 'data'), join(folder, 'log')];
  const options = [
    `-p ${PORT} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=300`,
    '-c log_statement=all -c log_line_prefix=@@ -c log_parameter_max_length=0 -c log_min_error_statement=panic',
  ].join(' ');
  asServer('initdb', '-D', data, '-U', 'modstead', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync');
  asServer('pg_ctl', '-D', data, '-l', log, '-w', '-o', options, 'start');
  try {
    const tests = positionals.length > 0 ? positionals : TESTS;
    const env = { ...process.env, MODSTEAD_TEST_POSTGRES_URL: `postgres://modstead@127.0.0.1:${PORT}/postgres` };
    spawnSync(process.execPath, ['tools/test.ts', '--only=postgres', ...tests], { env, stdio: 'inherit' });
  } finally {
    asServer('pg_ctl', '-D', data, '-m', 'immediate', 'stop');
  }
  const text = readFileSync(log, 'utf8');
  rmSync(folder, { recursive: true, force: true });
  return text;
}
