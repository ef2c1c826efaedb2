import type { Caller } from '../../platform/access/caller.ts';
import { isSiteStaff } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import { isDuplicate, type Transaction } from '../../platform/database/database.ts';
import { ApiError, type ValidationRule } from '../../platform/errors/catalogue.ts';
import { isReservedForPeople } from '../../platform/filters/reserved-names.ts';
import { avatarImage } from '../../platform/images/images.ts';
import {
  claimPictures,
  completePictures,
  pictureOf,
  preparePictures,
  reviewPicture,
  type UploadedPicture,
} from '../../platform/images/pictures.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import * as store from './store.ts';
import { changeUser, isLookAlike, requireUser, requireUserIn } from './users.ts';

/** Bits of `privacy_options`. */
const HIDE_ONLINE = 1;
const HIDE_PROFILE = 2;
export const PRIVACY_MAX = HIDE_ONLINE | HIDE_PROFILE;

const ADULT_YEARS = 18;

export interface ProfileChanges {
  readonly username?: string | undefined;
  readonly name_id?: string | undefined;
  readonly language?: string | undefined;
  readonly timezone?: string | undefined;
  readonly country?: string | undefined;
  readonly privacy_options?: number | undefined;
  readonly birth_date?: string | undefined;
  readonly mature_content?: boolean | undefined;
}

/** A user as others see them. Closed accounts and private profiles are hidden. */
export async function requireVisibleUser(app: App, caller: Caller, id: number): Promise<store.UserRow> {
  const person = await requireUser(app, id);
  if (caller.kind === 'user' && (caller.userId === id || isSiteStaff(caller))) return person;
  if (person.date_closed !== null) throw new ApiError('USER_NOT_FOUND');
  if (person.privacy_options & HIDE_PROFILE) throw new ApiError('USER_ACCOUNT_PRIVATE');
  return person;
}

/** The user with this name, if the caller may see their profile. */
export async function findVisibleUser(app: App, caller: Caller, nameId: string): Promise<store.UserRow | undefined> {
  const person = await store.byNameId(app.db, nameId);
  if (!person) return undefined;
  const isOwn = caller.kind === 'user' && (caller.userId === person.id || isSiteStaff(caller));
  return isOwn || isShownToAll(person) ? person : undefined;
}

export const isShownToAll = ({ date_closed, privacy_options }: store.UserRow): boolean =>
  date_closed === null && !(privacy_options & HIDE_PROFILE);

export async function editProfile(app: App, userId: number, changes: ProfileChanges): Promise<store.UserRow> {
  try {
    return await app.db.write(async (transaction) => {
      const before = await requireUserIn(transaction, userId);
      await requireNames(app, transaction, before, changes);
      const { mature_content, ...rest } = changes;
      const isMature = maturityOf(app, before, changes);
      const online = rest.privacy_options !== undefined && rest.privacy_options & HIDE_ONLINE ? { date_online: 0 } : {};
      await changeUser(transaction, userId, { ...defined(rest), ...online, mature_content: isMature ? 1 : 0 });
      return requireUserIn(transaction, userId);
    });
  } catch (error) {
    // Two users took the same name at the same time.
    if (isDuplicate(error)) refuse('name_id', 'taken');
    throw error;
  }
}

async function requireNames(
  app: App,
  transaction: Transaction,
  before: store.UserRow,
  { username = before.username, name_id = before.name_id }: ProfileChanges,
): Promise<void> {
  const { domain } = app.settings;
  const fields: { field: string; rule: ValidationRule }[] = [];
  if (username !== before.username) {
    if (isReservedForPeople(username, domain)) fields.push({ field: 'username', rule: 'reserved' });
    else if (await isLookAlike(transaction, username, before.id))
      fields.push({ field: 'username', rule: 'name_of_person' });
  }
  if (name_id !== before.name_id) {
    if (isReservedForPeople(name_id, domain)) fields.push({ field: 'name_id', rule: 'reserved' });
    else if (await store.otherWithNameId(transaction.query, name_id, before.id))
      fields.push({ field: 'name_id', rule: 'taken' });
  }
  if (fields.length > 0) throw new ApiError('VALIDATION_GENERIC', { fields });
}

function refuse(field: string, rule: ValidationRule): never {
  throw new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule }] });
}

const defined = <T extends object>(changes: T): T =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as T;

/** Mature content takes a birth date, which can be set once. */
function maturityOf(app: App, before: store.UserRow, { birth_date, mature_content }: ProfileChanges): boolean {
  if (birth_date !== undefined && before.birth_date !== null && birth_date !== before.birth_date)
    refuse('birth_date', 'invalid');
  const born = birth_date ?? before.birth_date;
  const isAdult = born !== null && isOfAge(born, app.clock.now());
  if (mature_content && !isAdult) throw new ApiError('MATURE_CONTENT_RESTRICTED');
  return mature_content ?? before.mature_content === 1;
}

function isOfAge(born: string, now: number): boolean {
  const [year = 0, month = 0, day = 0] = born.split('-').map(Number);
  return Date.UTC(year + ADULT_YEARS, month - 1, day) <= now * 1000;
}

export async function saveAvatar(app: App, userId: number, upload: UploadedPicture | undefined): Promise<void> {
  const pictures = pictureOf('avatar', avatarImage, upload);
  await preparePictures(app, pictures);
  await showAvatar(app, userId, pictures);
  await completePictures(app, pictures);
}

export const removeAvatar = (app: App, userId: number): Promise<void> => showAvatar(app, userId, []);

function showAvatar(app: App, userId: number, pictures: ReturnType<typeof pictureOf>): Promise<void> {
  return writeAfterRemoval(app, async (transaction) => {
    await claimPictures(app, transaction, pictures);
    const { avatar: before } = await requireUserIn(transaction, userId);
    const avatar = pictures[0]?.folder ?? null;
    await changeUser(transaction, userId, { avatar });
    if (before && before !== avatar) await reviewPicture(app, transaction, before);
  });
}
