import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { iconImage } from '../../platform/images/images.ts';
import {
  claimPictures,
  completePictures,
  pictureOf,
  preparePictures,
  reviewPicture,
  type UploadedPicture,
} from '../../platform/images/pictures.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import type { Mail, Sender } from '../../platform/mail/mail.ts';
import { audit } from '../../records/audit/audit.ts';
import { OWN_ACCENT, OWN_PALETTE, type Palette, paletteOf } from './palette.ts';
import * as store from './store.ts';

/** Changes with the name and look of the site. */
export const SITE_SCOPE = 'site';

const OWN_NAME = 'Modstead';
const NONE: store.LookRow = { part: 'site', name: '', summary: '', accent: '', icon: null, date_updated: 0 };

export interface Look {
  readonly name: string;
  readonly summary: string;
  readonly accent: string;
  /** The folder of the icon. */
  readonly icon: string | null;
  /** Whether the operator has chosen a name. */
  readonly isNamed: boolean;
  readonly palette: Palette;
  readonly dateUpdated: number;
}

/** The look of a site whose operator has chosen nothing. */
export const OWN_LOOK: Look = toLook(NONE);

function toLook({ name, summary, accent, icon, date_updated }: store.LookRow): Look {
  return {
    name: name || OWN_NAME,
    summary,
    accent: accent || OWN_ACCENT,
    icon,
    isNamed: name !== '',
    palette: accent ? paletteOf(accent) : OWN_PALETTE,
    dateUpdated: date_updated,
  };
}

type Reading = Pick<Database, 'first'>;

/** The name and look of the site. */
export const lookOf = async (db: Reading): Promise<Look> => toLook((await store.look(db)) ?? NONE);

export interface LookChanges {
  readonly name?: string | undefined;
  readonly summary?: string | undefined;
  readonly accent?: string | undefined;
}

function requireAdministrator({ admin }: UserCaller): void {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
}

/** Site administrators name the site and choose its colour. */
export async function editLook(app: App, caller: UserCaller, changes: LookChanges): Promise<Look> {
  requireAdministrator(caller);
  const sent = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as LookChanges;
  // The program’s own colours may change with a release.
  const accent = sent.accent === OWN_ACCENT ? '' : sent.accent;
  return app.db.write(async (transaction) => {
    await store.forChange(transaction);
    return change(app, transaction, caller, { ...sent, ...(accent !== undefined && { accent }) }, { ...sent });
  });
}

async function change(
  app: App,
  transaction: Transaction,
  { userId: actor }: UserCaller,
  changes: Partial<store.LookRow>,
  data: Readonly<Record<string, unknown>>,
): Promise<Look> {
  await store.change(transaction, { ...changes, date_updated: app.clock.now() });
  transaction.changed(SITE_SCOPE);
  const subject = { resource: 'site', id: 0, gameId: 0 };
  const look = await lookOf(transaction);
  await audit(app, transaction, { actor, action: 'site.edit', subject, data });
  return look;
}

/** Replaces the icon of the site. */
export async function saveIcon(app: App, caller: UserCaller, upload: UploadedPicture | undefined): Promise<Look> {
  requireAdministrator(caller);
  const pictures = pictureOf('icon', iconImage, upload);
  await preparePictures(app, pictures);
  const look = await showIcon(app, caller, pictures);
  await completePictures(app, pictures);
  return look;
}

/** The sign of the program is shown again. */
export async function removeIcon(app: App, caller: UserCaller): Promise<void> {
  requireAdministrator(caller);
  await showIcon(app, caller, []);
}

const showIcon = (app: App, caller: UserCaller, pictures: ReturnType<typeof pictureOf>): Promise<Look> =>
  writeAfterRemoval(app, async (transaction) => {
    await claimPictures(app, transaction, pictures);
    const { icon: before } = await store.forChange(transaction);
    const icon = pictures[0]?.folder ?? null;
    if (before && before !== icon) await reviewPicture(app, transaction, before);
    return change(app, transaction, caller, { icon }, { icon: icon !== null });
  });

/** Sends mails in the name and colours of the site. */
export const mailInLookOf = (db: Reading, mail: Mail): Mail => ({
  ...mail,
  send: async (message) => mail.send({ sender: await senderOf(db), ...message }),
});

async function senderOf(db: Reading): Promise<Sender> {
  const { name, isNamed, palette } = await lookOf(db);
  return { ...(isNamed && { name }), accents: { light: palette.light.accent, dark: palette.dark.accent } };
}
