// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';

const runner = path.resolve(import.meta.dirname, '../tools/test.ts');

const passing = `import test from 'node:test'; test('adds', () => {});`;
const failing = `import test from 'node:test'; import assert from 'node:assert';
  test('holds', () => {}); test('adds wrongly', () => assert.equal(1 + 1, 3));`;
const crashing = `import test from 'node:test'; test('holds', () => {}); test('dies', () => process.abort());`;
const leaving = `import test from 'node:test'; test('leaves early', () => process.exit(0));`;
const telling = `import test from 'node:test'; import fs from 'node:fs';
  test('tells', () => fs.appendFileSync('pids.txt', process.pid + '\\n'));`;
const changing = `import test from 'node:test'; test('changes', () => { process.env.LEFT = 'here'; });`;
const leaking = `import test from 'node:test'; import net from 'node:net'; test('listens', () => { net.createServer().listen(0); });`;
const badHook = `import test, { after } from 'node:test'; test('holds', () => {}); after(() => { throw new Error('left a mess'); });`;
const badLate = `import test from 'node:test'; test('holds', () => {}); await Promise.reject(new Error('came late'));`;
const uncaught = `import test from 'node:test'; const soon = () => new Promise((resolve) => setTimeout(resolve, 50));
  test('holds', soon);
  test('throws later', async () => { setTimeout(() => { throw new Error('in a timer'); }, 1); await soon(); });
  test('rejects later', async () => { void soon().then(() => Promise.reject(new Error('in a promise'))); await soon(); await soon(); });
  test('holds too', soon);`;
const empty = 'export const nothing = 1;';
const endless = `import test from 'node:test'; process.on('SIGTERM', () => {}); test('spins', () => { for (;;); });`;
const onDatabase = `import { startApi } from './api.ts'; import test from 'node:test';
  test('says where', () => startApi(process.env.MODSTEAD_TEST_DATABASE + ' ' + process.env.MODSTEAD_TEST_POSTGRES_URL));`;
const api = `import fs from 'node:fs'; export const startApi = (text: string) => fs.appendFileSync('seen.txt', text + '\\n');`;
const answering = (refs: object[]) => `import test from 'node:test'; import fs from 'node:fs';
  test('answers', () => { fs.mkdirSync('test-results/refs', { recursive: true });
    fs.writeFileSync('test-results/refs/' + process.pid + '.json', '${JSON.stringify(refs)}'); });`;

function aProject(t: TestContext, files: Record<string, string>): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'modstead-runner-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

function run(folder: string, ...args: string[]): { lines: string[]; code: number | null; errors: string } {
  const env = { ...process.env, MODSTEAD_TEST_POSTGRES_URL: 'postgres://given' };
  const { stdout, stderr, status } = spawnSync(process.execPath, [runner, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { lines: stdout.trimEnd().split('\n'), code: status, errors: stderr };
}

function lineAbout(lines: string[], file: string): string {
  return lines.find((line) => /^(ok|FAIL)/.test(line) && line.includes(file)) ?? '';
}

test('the runner accepts the path of a file outside the project', (t) => {
  const file = path.join(aProject(t, { 'good.test.ts': passing }), 'good.test.ts');
  const { lines, code } = run(aProject(t, {}), file);
  assert.match(lineAbout(lines, 'good.test.ts'), /^ok .*1 passed/);
  assert.equal(lines.at(-1), '1 passed, 0 failed');
  assert.equal(code, 0);
});

test('the runner reports failing, crashing and passing files', (t) => {
  const files = {
    'good.test.ts': passing,
    'bad.test.ts': failing,
    'crash.test.ts': crashing,
    'early.test.ts': leaving,
  };
  const { lines, code } = run(aProject(t, files), ...Object.keys(files));
  assert.match(lineAbout(lines, 'good.test.ts'), /^ok .*1 passed/);
  assert.match(lineAbout(lines, 'bad.test.ts'), /^FAIL .*1 passed, 1 failed/);
  assert.ok(lines.some((line) => line.includes('AssertionError') && line.includes('2 == 3')));
  assert.match(lineAbout(lines, 'crash.test.ts'), /^FAIL/);
  assert.ok(lines.some((line) => line.includes('crash.test.ts crashed with SIGABRT')));
  assert.match(lineAbout(lines, 'early.test.ts'), /^FAIL/);
  assert.equal(lines.at(-1), '2 passed, 3 failed');
  assert.equal(code, 1);
});

test('files share a process unless one is marked to run alone', (t) => {
  const project = aProject(t, {
    'src/a.test.ts': telling,
    'src/b.test.ts': telling,
    'src/c.test.ts': `// Runs alone: it is a test of that\n${telling}`,
  });
  assert.equal(run(project, '--concurrency=1').lines.at(-1), '3 passed, 0 failed');
  const [alone, ...shared] = fs.readFileSync(path.join(project, 'pids.txt'), 'utf8').trim().split('\n');
  assert.equal(new Set(shared).size, 1);
  assert.notEqual(alone, shared[0]);
});

test('a leak or hidden failure fails its own file, not the files after it', (t) => {
  const files = {
    'changing.test.ts': changing,
    'alone.test.ts': `// Runs alone: it changes its environment\n${changing}`,
    'leaking.test.ts': leaking,
    'hook.test.ts': badHook,
    'late.test.ts': badLate,
    'empty.test.ts': empty,
    'good.test.ts': passing,
  };
  const { lines } = run(aProject(t, files), '--concurrency=1', '--leak-timeout=0.5', ...Object.keys(files));
  const text = lines.join('\n');
  assert.match(text, /changing\.test\.ts left process\.env\.LEFT changed .*"\/\/ Runs alone: …"/);
  assert.match(text, /leaking\.test\.ts left something open after its last test: TCPServerWrap/);
  assert.match(text, /hook\.test\.ts failed outside its tests.*left a mess/s);
  assert.match(text, /late\.test\.ts failed outside its tests.*came late/s);
  assert.match(text, /empty\.test\.ts ended without reporting a test/);
  assert.match(lineAbout(lines, 'alone.test.ts'), /^ok/);
  assert.match(lineAbout(lines, 'good.test.ts'), /^ok/);
});

test('an error that nothing catches fails the test that caused it', (t) => {
  const { lines } = run(aProject(t, { 'uncaught.test.ts': uncaught }), '--leak-timeout=0.5', 'uncaught.test.ts');
  const failed = lines.filter((line) => /^ +✖ (throws|rejects)/.test(line)).map((line) => line.trim().split(' (')[0]);
  assert.deepEqual([...new Set(failed)], ['✖ throws later', '✖ rejects later']);
  for (const message of ['in a timer', 'in a promise'])
    assert.ok(
      lines.some((line) => line.includes(`Error: ${message}`)),
      message,
    );
  assert.equal(lines.at(-1), '2 passed, 2 failed');
});

test('a file that hangs is killed and fails', (t) => {
  const { lines, code } = run(aProject(t, { 'spin.test.ts': endless }), '--file-timeout=2', 'spin.test.ts');
  assert.ok(lines.some((line) => line.includes('spin.test.ts did not end within 2 s')));
  assert.equal(lines.at(-1), '0 passed, 1 failed');
  assert.equal(code, 1);
});

test('a file that starts the API runs on both databases, any other once', (t) => {
  const project = aProject(t, { 'src/mods.test.ts': onDatabase, 'src/api.ts': api, 'test/plain.test.ts': passing });
  assert.equal(run(project).lines.at(-1), '3 passed, 0 failed');
  assert.deepEqual(fs.readFileSync(path.join(project, 'seen.txt'), 'utf8').trim().split('\n').sort(), [
    'postgres postgres://given',
    'sqlite postgres://given',
  ]);
  assert.equal(run(project, '--only=postgres').lines.at(-1), '2 passed, 0 failed');
});

test('only a whole run updates the list of reached errors', (t) => {
  const project = aProject(t, {
    'src/a.test.ts': answering([met(15028, 'a'), met(11000, 'a', true)]),
    'src/b.test.ts': answering([met(11000, 'b'), met(13009, 'b', true)]),
    'test-results/refs/old.json': '[{"ref":1}]',
  });
  const answered = () => JSON.parse(fs.readFileSync(path.join(project, 'test-results/error-refs.json'), 'utf8'));
  run(project);
  // A test that uses only the API takes precedence over one that writes directly.
  const expected = [met(11000, 'b'), met(13009, 'b', true), met(15028, 'a')];
  assert.deepEqual(answered(), expected);
  assert.ok(!fs.existsSync(path.join(project, 'test-results/refs')));
  run(project, 'src/b');
  assert.deepEqual(answered(), expected);
});

const met = (ref: number, name: string, wrote = false) => ({ ref, test: name, wrote });

test('a run without test files fails', (t) => {
  const project = aProject(t, { 'src/a.test.ts': passing });
  const mistyped = run(project, 'rattings');
  assert.equal(mistyped.code, 1);
  assert.match(mistyped.errors, /No test file matches "rattings"/);
  assert.equal(run(aProject(t, {})).code, 1);
});
