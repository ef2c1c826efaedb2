export interface MailMessage {
  to: string;
  subject: string;
  /** Plain text, with empty lines between paragraphs. */
  text: string;
  /** The same as elements, where more than paragraphs and links are wanted. */
  html?: string;
  /** The one-click unsubscribe address of mail programs (RFC 8058). */
  optOut?: string;
  /**
   * Two sends with the same id are the same mail, so that the receiver can drop duplicates. Letters, digits, `-` and
   * `.`.
   */
  id?: string;
  /** Who it is from, as readers know them. */
  sender?: Sender;
}

export interface Sender {
  /** Unless the setting of the sender has a name. */
  readonly name?: string;
  /** The colour of links, in a light and in a dark scheme. */
  readonly accents: { readonly light: string; readonly dark: string };
}

/** Sends messages. */
export interface Mail {
  /** Resolves when the message is on disk or accepted by the next server. */
  send(message: MailMessage): Promise<void>;
  /** Throws if messages cannot be sent now. */
  check(): Promise<void>;
  /** Closes open connections, so that the process can end. */
  close(): void;
}

/** The message was not sent. A retry may succeed unless it is permanent. */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly permanent: boolean;

  constructor(message: string, { permanent, cause }: { permanent: boolean; cause?: unknown }) {
    super(message, { cause });
    this.permanent = permanent;
  }
}

// Exactly one plain address: a list, a display name or a quoted part could add recipients.
const addressPattern = /^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()[\]\\,;:"@]+$/u;
const addressCharactersMax = 254;

/**
 * Refuses values that would add a header or a recipient. The error does not contain the address, because it is logged.
 */
export function requireSafeHeaders({ to, subject, id }: MailMessage): void {
  if (to.length > addressCharactersMax || !addressPattern.test(to))
    throw new MailError('the recipient is not one plain e-mail address', { permanent: true });
  if (/\p{Cc}/u.test(subject))
    throw new MailError('the subject has a line break or another control character', { permanent: true });
  if (id !== undefined && !/^[A-Za-z0-9.-]{1,100}$/.test(id))
    throw new MailError('the name of the message has other characters than it may have', { permanent: true });
}
