import { OPERATOR } from '../platform/access/caller.ts';
import { STAFF_LEVELS, type StaffLevelName } from '../platform/access/staff.ts';
import { command, idOf, misuse } from './invocation/command.ts';
import { requireKnownUser, withApp } from './operator.ts';

const NAMES = Object.keys(STAFF_LEVELS) as StaffLevelName[];

export default command({
  name: 'staff set',
  usage: '--user USER_ID --level LEVEL',
  says: `Adds a user to the staff of the site, or changes their level.

A moderator may do in every game what a moderator of its team may do. An administrator also manages users, games, the
site and moderators. An owner manages all staff; the last owner cannot be removed.`,
  json: true,
  options: {
    user: { type: 'string', value: 'USER_ID', required: true, says: 'who it is' },
    level: { type: 'string', value: 'LEVEL', required: true, says: `one of ${NAMES.join(', ')}` },
  },
  run: async ({ values, settings, environment }) => {
    const userId = idOf(values.user, '--user');
    const level = NAMES.find((name) => name === values.level);
    if (!level) throw misuse(`--level must be one of ${NAMES.join(', ')}, not "${values.level}".`);
    return withApp(settings(), environment, async (app) => {
      const { username } = await requireKnownUser(app, userId);
      const { addStaff, changeStaff, isStaffMember } = await import('../people/staff/staff.ts');
      const put = (await isStaffMember(app.db, userId)) ? changeStaff : addStaff;
      await put(app, OPERATOR, { userId, level: STAFF_LEVELS[level] });
      return { object: { id: userId, username, level }, text: `${username} (user ${userId}) is now ${level}.` };
    });
  },
});
