import { createTransport } from 'nodemailer';
import { letterOf, nameIn, senderOf } from './letter.ts';
import { type Mail, MailError, type MailMessage, requireSafeHeaders } from './mail.ts';

const patienceMs = 10_000;

type Transport = ReturnType<typeof transportTo>;

/** `url` is `smtp://user:password@host:587` or `smtps://…:465`; `from` is an address, with or without a name. */
export function mailOverSmtp(url: string, from: string): Mail {
  const transport = transportTo(url);
  return {
    async send(message) {
      requireSafeHeaders(message);
      await deliver(transport, from, message);
    },
    async check() {
      await transport.verify().catch(fail('the SMTP server does not answer as it should'));
    },
    close: () => transport.close(),
  };
}

function transportTo(url: string) {
  return createTransport({
    url,
    pool: true,
    // The job that sends decides about retries, because it knows how long a message is relevant.
    maxRequeues: 0,
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
    dnsTimeout: patienceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

async function deliver(transport: Transport, from: string, mail: MailMessage): Promise<void> {
  const { to, subject, text, optOut, id, sender } = mail;
  const html = letterOf(mail, senderOf(from, sender));
  const recipient = { name: '', address: to };
  const headers = { 'Auto-Submitted': 'auto-generated', ...(optOut && optOutHeaders(optOut)) };
  const messageId = id && `<${id}@${domainOf(from)}>`;
  const message = {
    from: named(from, sender),
    to: recipient,
    subject,
    text,
    html,
    headers,
    ...(messageId && { messageId }),
  };
  await transport.sendMail(message).catch(fail('the SMTP server did not take a message'));
}

/** An address without a name gets that of the site. */
const named = (from: string, sender: MailMessage['sender']) =>
  sender?.name === undefined || nameIn(from) !== undefined
    ? from
    : { name: sender.name, address: from.replace(/^\s*<|>\s*$/g, '').trim() };

const domainOf = (from: string): string => /@([^\s<>@]+?)>?\s*$/.exec(from)?.[1] ?? 'localhost';

const optOutHeaders = (address: string) => ({
  'List-Unsubscribe': `<${address}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});

function fail(message: string): (cause: unknown) => never {
  return (cause) => {
    throw new MailError(message, { permanent: (cause as { permanent?: boolean }).permanent === true, cause });
  };
}
