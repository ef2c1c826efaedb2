import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { assertRefusal, runHere, runProgram } from '../../test/commands.ts';
import { temporaryFolder } from '../../test/temporary.ts';

const NOWHERE = resolve('package.json/data');
const settings: NodeJS.ProcessEnv = { MODSTEAD_DATA: NOWHERE, MODSTEAD_LOG: 'off' };

async function refuses(
  args: readonly string[],
  code: number,
  says: RegExp,
  more: NodeJS.ProcessEnv = {},
): Promise<void> {
  assertRefusal(await runHere(args, { ...settings, ...more }), code, says);
}

test('the program prints the requested output and exits with the code of a refusal', async () => {
  const [version, refused] = await Promise.all([
    runProgram(['--version'], settings),
    runProgram(['frobnicate'], settings),
  ]);
  assert.match(version.out, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual([version.code, version.err], [0, '']);
  assertRefusal(refused, 2, /^There is no command "frobnicate"; .*--help/);
});

test('every command has a help text', async () => {
  const { code, out } = await runHere(['--help'], settings);
  assert.equal(code, 0);
  const names = [
    'serve',
    'work',
    'migrate',
    'user add',
    'game add',
    'game set',
    'token add',
    'client add',
    'portal set',
    'scan',
    'cook-runner',
    'demo',
    'storage check',
    'backup',
    'restore',
    'audit verify',
    'publish',
    'doctor',
  ];
  await Promise.all(
    names.map(async (name) => {
      assert.match(out, new RegExp(`^ {2}${name}`, 'm'));
      const help = await runHere([...name.split(' '), '--help'], settings);
      assert.equal(help.code, 0);
      assert.match(help.out, new RegExp(`^npx modstead ${name}.*--sandbox`, 's'));
      assert.equal(help.out.includes('--json'), !['work', 'cook-runner'].includes(name));
    }),
  );
});

test('an unknown command or option is refused with a hint', async () => {
  await Promise.all([
    refuses(['frobnicate'], 2, /^There is no command "frobnicate"; .*--help/),
    refuses(['user'], 2, /user add/),
    refuses(['user', 'remove'], 2, /^There is no command "user remove"/),
    refuses(['user', 'add', '--nickname', 'x'], 2, /^"user add" has no option --nickname\. .*--help/),
    refuses(['user', 'add', '--email', 'a@example.com'], 2, /needs --username/),
    refuses(['token', 'add', '--user', '1', '--user', '2'], 2, /given twice/),
    refuses(['serve', 'now'], 2, /takes no "now"/),
  ]);
});

test('a wrong setting stops the start with one sentence', async () => {
  await Promise.all([
    refuses(['serve'], 2, /^MODSTEAD_STORAGE_URL must be an address such as s3:/, {
      MODSTEAD_STORAGE_URL: 's3://bucket?endpont=https://example.com',
    }),
    refuses(['serve'], 2, /^MODSTEAD_PORT must be a whole number/, { MODSTEAD_PORT: 'http' }),
    refuses(['user', 'add', '--email', 'a@b.example', '--username', 'a'], 2, /^MODSTEAD_COLOUR is not a setting/, {
      MODSTEAD_COLOUR: 'red',
    }),
  ]);
});

test('a service that cannot use its folder or its database exits with one sentence', async () => {
  const unreachable = {
    MODSTEAD_DATA: temporaryFolder('usage'),
    MODSTEAD_DATABASE_URL: 'postgres://127.0.0.1:1/modstead',
  };
  const [folder, database] = await Promise.all([
    runProgram(['serve'], { ...settings, MODSTEAD_PORT: '0' }),
    runProgram(['serve'], unreachable),
  ]);
  assertRefusal(folder, 1, /cannot be written/);
  assertRefusal(database, 1, /^PostgreSQL does not accept connections/);
});
