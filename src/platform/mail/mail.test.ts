import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { MailError, requireSafeHeaders } from './mail.ts';

const refused = (message: { to: string; subject: string }) => {
  try {
    requireSafeHeaders({ ...message, text: '' });
    return false;
  } catch (error) {
    assert.ok(error instanceof MailError && error.permanent);
    return true;
  }
};

test('ordinary addresses and subjects of any language pass', () => {
  for (const to of ['ada@example.org', "o'neil+mods@sub.example.co.uk", 'ä@bücher.example', 'root@localhost'])
    assert.equal(refused({ to, subject: 'Ihr Code: ÄÖÜ 日本 🎲' }), false, to);
});

test('a recipient that could add headers or recipients is refused', () => {
  const tricks = [
    'a@b.c\r\nBcc: d@e.f',
    'a@b.c\nX: y',
    'a@b.c,d@e.f',
    'a@b.c;d@e.f',
    'A <a@b.c>',
    '<a@b.c>',
    '"a b"@c.d',
  ];
  for (const to of [
    ...tricks,
    '',
    'a',
    '@b.c',
    'a@',
    'a@b@c',
    'a b@c.d',
    'a@b.c\0',
    'g:a@b.c;',
    `${'a'.repeat(251)}@b.c`,
  ])
    assert.equal(refused({ to, subject: 'Hi' }), true, JSON.stringify(to));
});

test('a subject with a line break is refused wherever the break is', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('\r', '\n', '\r\n', '\0', '\x85'), fc.string(), (before, bad, after) =>
      refused({ to: 'ada@example.org', subject: before + bad + after }),
    ),
  );
});

test('the error does not repeat the address, since errors are logged', () => {
  assert.throws(
    () => requireSafeHeaders({ to: 'ada@example.org\n', subject: '', text: '' }),
    (error: Error) => !error.message.includes('ada'),
  );
});
