export interface MailMessage {
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** Where mail programs let people end such mails with one click (RFC 8058). */
  optOut?: string;
  /** Sent again under the same name, it is the same mail: whoever takes it can tell. Letters, digits, `-` and `.`. */
  id?: string;
}

/** How messages leave the house. */
export interface Mail {
  /** Returns once the message is in safe hands: on disk, or accepted by the next server. */
  send(message: MailMessage): Promise<void>;
  /** Throws when messages cannot be sent now. */
  check(): Promise<void>;
  /** Lets go of open connections, so that the process can end. */
  close(): void;
}

/** The message was not sent. Trying again helps unless it is permanent. */
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

/** Refuses what would become a further header or recipient. The text says nothing of the address, as it is logged. */
export function requireSafeHeaders({ to, subject, id }: MailMessage): void {
  if (to.length > addressCharactersMax || !addressPattern.test(to))
    throw new MailError('the recipient is not one plain e-mail address', { permanent: true });
  if (/\p{Cc}/u.test(subject))
    throw new MailError('the subject has a line break or another control character', { permanent: true });
  if (id !== undefined && !/^[A-Za-z0-9.-]{1,100}$/.test(id))
    throw new MailError('the name of the message has other characters than it may have', { permanent: true });
}
