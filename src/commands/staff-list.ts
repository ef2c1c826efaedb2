import { STAFF_LEVELS } from '../platform/access/staff.ts';
import { columns, command } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'staff list',
  usage: '',
  says: 'Lists the staff of the site with their levels.',
  json: true,
  options: {},
  run: async ({ settings, environment }) =>
    withApp(settings(), environment, async (app) => {
      const { allStaff } = await import('../people/staff/staff.ts');
      const staff = (await allStaff(app)).map(({ id, username, level }) => ({ id, username, level: nameOf(level) }));
      const lines = staff.map(({ id, username, level }) => [String(id), `${username}, ${level}`] as const);
      return { object: { staff }, text: lines.length > 0 ? columns(lines) : 'There is no staff yet.' };
    }),
});

const nameOf = (level: number) => Object.entries(STAFF_LEVELS).find(([, each]) => each === level)?.[0] ?? 'none';
