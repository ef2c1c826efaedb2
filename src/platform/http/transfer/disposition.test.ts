import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { attachment, safeFilename } from './disposition.ts';

test('a plain name stays unchanged', () => {
  assert.equal(attachment('sky-ships_1.2 (beta).zip'), 'attachment; filename="sky-ships_1.2 (beta).zip"');
});

test('a name in another script is sent twice, once in ASCII for older clients', () => {
  assert.equal(attachment('größe.zip'), `attachment; filename="gr__e.zip"; filename*=UTF-8''gr%C3%B6%C3%9Fe.zip`);
  assert.equal(attachment("空'船.zip"), `attachment; filename="_'_.zip"; filename*=UTF-8''%E7%A9%BA%27%E8%88%B9.zip`);
});

test('no name ends the header, leaves the folder or reverses the text', () => {
  assert.equal(safeFilename('a"; filename="b.exe\r\nset-cookie: x=1'), 'a__ filename=_b.exeset-cookie_ x=1');
  assert.equal(safeFilename('../../etc/passwd'), '_.._etc_passwd');
  assert.equal(safeFilename('C:\\Windows\\x.zip'), 'C__Windows_x.zip');
  assert.equal(safeFilename('mod\u202Egpj.exe'), 'modgpj.exe');
  assert.equal(safeFilename('a\0b\u200B.zip'), 'ab.zip');
});

test('device names, empty names and trailing dots are replaced', () => {
  assert.equal(safeFilename('CON'), '_CON');
  assert.equal(safeFilename('lpt1.zip'), '_lpt1.zip');
  assert.equal(safeFilename('console.zip'), 'console.zip');
  for (const name of ['', '.', '..', ' . ', '\u202E']) assert.equal(safeFilename(name), 'download');
  assert.equal(safeFilename('mod.zip. .'), 'mod.zip');
});

test('a long name keeps its extension', () => {
  const name = safeFilename(`${'n'.repeat(10_000)}.zip`);
  assert.equal(name, `${'n'.repeat(76)}.zip`);
  assert.equal(safeFilename(`${'n'.repeat(10)}.${'x'.repeat(10_000)}`).length, 80);
});

test('whatever the name, the header is one line of visible ASCII with quotes only around the name', () => {
  const name = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(name, (text) => {
      assert.match(
        attachment(text),
        /^attachment; filename="[\x20-\x21\x23-\x7e]{1,90}"(?:; filename\*=UTF-8''[\w!#$&+.^`|~%-]+)?$/,
      );
    }),
    { numRuns: 300 },
  );
});
