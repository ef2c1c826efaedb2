import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import test, { type TestContext } from 'node:test';
import { MailError } from './mail.ts';
import { mailOverSmtp } from './smtp.ts';

interface Letter {
  from: string;
  recipients: string[];
  data: string;
}

interface SmtpServer {
  url: string;
  letters: Letter[];
  connections: number;
  commands: string[];
}

type Answers = Partial<Record<'EHLO' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'END' | 'RSET' | 'QUIT', string>>;

const usual: Required<Answers> = {
  EHLO: '250-test greets you\r\n250-AUTH PLAIN\r\n250 8BITMIME',
  AUTH: '235 welcome',
  MAIL: '250 sender ok',
  RCPT: '250 recipient ok',
  DATA: '354 go on',
  END: '250 taken',
  RSET: '250 reset',
  QUIT: '221 bye',
};

/** Implements enough of RFC 5321 to accept a message; each reply can be replaced. */
async function anSmtpServer(t: TestContext, answers: Answers = {}): Promise<SmtpServer> {
  const server: SmtpServer = { url: '', letters: [], connections: 0, commands: [] };
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    server.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    void converse(socket, server, { ...usual, ...answers });
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  server.url = `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return server;
}

async function converse(socket: Socket, server: SmtpServer, answers: Required<Answers>): Promise<void> {
  let letter: Letter = { from: '', recipients: [], data: '' };
  let inData = false;
  socket.write('220 test ESMTP\r\n');
  for await (const line of createInterface({ input: socket, crlfDelay: Infinity })) {
    if (inData && line !== '.') {
      letter.data += `${line.replace(/^\.\./, '.')}\n`;
      continue;
    }
    const verb = (inData ? 'END' : line.slice(0, 4).toUpperCase()) as keyof Answers;
    server.commands.push(inData ? '.' : line);
    if (verb === 'MAIL') letter = { from: addressIn(line), recipients: [], data: '' };
    if (verb === 'RCPT') letter.recipients.push(addressIn(line));
    if (verb === 'END') server.letters.push(letter);
    inData = verb === 'DATA' && answers.DATA.startsWith('354');
    socket.write(`${answers[verb] ?? '502 what?'}\r\n`);
    if (verb === 'QUIT') socket.end();
  }
}

const addressIn = (line: string) => /<(.*?)>/.exec(line)?.[1] ?? '';

function aMail(t: TestContext, url: string, from = 'Modstead <mods@example.org>') {
  const mail = mailOverSmtp(url, from);
  t.after(() => mail.close());
  return mail;
}

test('a message reaches the server with its sender, recipient, subject and text', async (t) => {
  const server = await anSmtpServer(t);
  await aMail(t, server.url).send({ to: 'ada@example.net', subject: 'Your code', text: 'It is AB2CD.\n.\nBye.' });
  const [letter] = server.letters;
  assert.deepEqual([letter?.from, letter?.recipients], ['mods@example.org', ['ada@example.net']]);
  assert.match(letter!.data, /^From: Modstead <mods@example.org>$/m);
  assert.match(letter!.data, /^To: ada@example.net$/m);
  assert.match(letter!.data, /^Subject: Your code$/m);
  assert.match(letter!.data, /^Auto-Submitted: auto-generated$/m);
  assert.match(letter!.data, /\n\nIt is AB2CD\.\n\.\nBye\.\n/);
});

test('a message with an unsubscribe address has the headers of RFC 8058, and others do not', async (t) => {
  const server = await anSmtpServer(t);
  const mail = aMail(t, server.url);
  const message = { to: 'ada@example.net', subject: 'Hi', text: 'x' };
  await mail.send({ ...message, optOut: 'https://example.org/out?hash=1' });
  await mail.send(message);
  const [first, second] = server.letters;
  assert.match(first!.data, /^List-Unsubscribe: <https:\/\/example\.org\/out\?hash=1>$/m);
  assert.match(first!.data, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m);
  assert.doesNotMatch(second!.data, /List-Unsubscribe/);
});

test('a message that is sent twice with the same id has the same Message-ID', async (t) => {
  const server = await anSmtpServer(t);
  const mail = aMail(t, server.url);
  for (const text of ['1', '2']) await mail.send({ id: 'letter-7', to: 'ada@example.net', subject: 'Hi', text });
  await assert.rejects(mail.send({ id: 'x\r\ny', to: 'ada@example.net', subject: 'Hi', text: '3' }), MailError);
  const names = server.letters.map(({ data }) => /^Message-ID: <(letter-7@[^>]+)>/im.exec(data)?.[1]);
  assert.deepEqual([names.length, new Set(names).size, names[0]?.startsWith('letter-7@')], [2, 1, true]);
});

test('a message contains its text as HTML in the look of the site as well, and nothing in it is markup', async (t) => {
  const server = await anSmtpServer(t);
  await aMail(t, server.url).send({
    to: 'ada@example.net',
    subject: 'Code: AB2CD',
    text: 'Take AB2CD.\n\n<b>x</b> https://a.example/?b=1&c=2.',
  });
  const { data } = server.letters[0]!;
  assert.match(data, /multipart\/alternative[\s\S]*text\/plain[\s\S]*Take AB2CD\.[\s\S]*text\/html/);
  const html = data.replaceAll(/=\n/g, '').replaceAll('=3D', '=');
  assert.match(html, /<strong[^>]*>AB2CD<\/strong>/);
  assert.match(html, /&lt;b&gt;x&lt;\/b&gt; <a[^>]*href="https:\/\/a\.example\/\?b=1&amp;c=2">[^<]*<\/a>\./);
});

test('an address without a name gets that of the site, and a name in the setting wins', async (t) => {
  const server = await anSmtpServer(t);
  const sender = { name: 'Sky, Harbour', accents: { light: '#aa3300', dark: '#ffaa88' } };
  for (const from of ['mods@example.org', 'Studio <mods@example.org>'])
    await aMail(t, server.url, from).send({ to: 'ada@example.net', subject: 'Hi', text: 'https://a.example/', sender });
  const [named, own] = server.letters.map(({ data }) => data.replaceAll('=\n', ''));
  assert.match(named!, /^From: "Sky, Harbour" <mods@example\.org>$/m);
  assert.match(named!, /color:#aa3300/);
  assert.match(own!, /^From: Studio <mods@example\.org>$/m);
});

test('a subject of another script is encoded and stays one header', async (t) => {
  const server = await anSmtpServer(t);
  await aMail(t, server.url).send({ to: 'ada@example.net', subject: 'Код: 日本', text: 'x' });
  assert.match(server.letters[0]!.data, /^Subject: =\?UTF-8\?/m);
});

test('line breaks in recipient or subject are refused before anything is sent', async (t) => {
  const server = await anSmtpServer(t);
  const mail = aMail(t, server.url);
  const safe = { to: 'ada@example.net', subject: 'Hi', text: 'x' };
  for (const bad of [{ to: 'a@b.c\r\nRCPT TO:<d@e.f>' }, { to: 'a@b.c, d@e.f' }, { subject: 'Hi\r\nBcc: d@e.f' }])
    await assert.rejects(mail.send({ ...safe, ...bad }), MailError);
  assert.equal(server.connections, 0);
});

test('consecutive messages share a connection', async (t) => {
  const server = await anSmtpServer(t);
  const mail = aMail(t, server.url);
  for (const text of ['1', '2', '3']) await mail.send({ to: 'ada@example.net', subject: 'Hi', text });
  assert.deepEqual([server.letters.length, server.connections], [3, 1]);
});

test('the client authenticates with the name and password of the URL', async (t) => {
  const server = await anSmtpServer(t);
  const url = server.url.replace('//', '//ada:s%40cret@');
  await aMail(t, url).send({ to: 'ada@example.net', subject: 'Hi', text: 'x' });
  const login = Buffer.from('\0ada\0s@cret').toString('base64');
  assert.ok(server.commands.includes(`AUTH PLAIN ${login}`));
});

test('a 5xx reply is a permanent error, and a 4xx reply is not', async (t) => {
  for (const [answer, permanent] of [
    ['550 no such user', true],
    ['451 later, please', false],
  ] as const) {
    const server = await anSmtpServer(t, { RCPT: answer });
    await assert.rejects(
      aMail(t, server.url).send({ to: 'ada@example.net', subject: 'Hi', text: 'x' }),
      (error) => error instanceof MailError && error.permanent === permanent && error.cause instanceof Error,
    );
  }
});

test('a message that the server refuses after its text does not count as sent', async (t) => {
  const server = await anSmtpServer(t, { END: '452 no room' });
  await assert.rejects(aMail(t, server.url).send({ to: 'ada@example.net', subject: 'Hi', text: 'x' }), MailError);
});

test('check passes if the server responds, and throws otherwise', async (t) => {
  const server = await anSmtpServer(t);
  await aMail(t, server.url).check();
  await assert.rejects(aMail(t, 'smtp://127.0.0.1:1').check(), MailError);
  await assert.rejects(aMail(t, 'smtp://127.0.0.1:1').send({ to: 'a@b.c', subject: 'Hi', text: 'x' }), MailError);
});
