import { DatabaseSync } from 'node:sqlite';

// Reads every page of the database file at this location, which may take minutes, and prints the problems as JSON.

const PROBLEMS_MAX = 10;

function problemsOf(location: string): string[] {
  const db = new DatabaseSync(location, { readOnly: true, timeout: 10_000 });
  try {
    const rows = db.prepare(`pragma quick_check(${PROBLEMS_MAX})`).all() as { quick_check: string }[];
    return rows.map(({ quick_check }) => quick_check).filter((text) => text !== 'ok');
  } catch (error) {
    return [String(error)];
  } finally {
    db.close();
  }
}

process.stdout.write(JSON.stringify(problemsOf(process.argv[2]!)));
