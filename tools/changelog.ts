import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import about from '../package.json' with { type: 'json' };

const help = `npm run changelog [-- --unreleased | --check]

Writes CHANGELOG.md from the commits between version tags: a section per version, a group per component. The version of
package.json gets a section up to HEAD while it has no tag. The section of the first version is written by hand and never changes.

  --unreleased   write nothing, and print the section of the commits since the newest tag
  --check        write nothing, and fail unless the file can be parsed and its newest version is that of package.json
  --help         print this`;

const FILE = 'CHANGELOG.md';
const TITLE = '# Changelog';
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;
const HEADING = /^## (\d+\.\d+\.\d+) \((?:\d{4}-\d{2}-\d{2}|unreleased)\)$/;
const BREAKING = 'Breaking changes';
/** The component of subjects without a prefix. */
const GENERAL = 'General';

interface Commit {
  readonly subject: string;
  readonly body: string;
}

interface Section {
  readonly version: string;
  readonly text: string;
}

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 }).trim();

function byVersion(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => VERSION.exec(version)!.slice(1).map(Number));
  const index = left!.findIndex((part, i) => part !== right![i]);
  return index === -1 ? 0 : left![index]! - right![index]!;
}

const taggedVersions = () =>
  git('tag', '--list', 'v*', '--merged', 'HEAD')
    .split('\n')
    .map((tag) => tag.slice(1))
    .filter((version) => VERSION.test(version))
    .sort(byVersion);

function commitsIn(range: string): Commit[] {
  const text = git('log', '--no-merges', '--reverse', '--format=%s%x1f%b%x1e', range);
  return text
    .split('\x1e')
    .map((record) => record.trim().split('\x1f'))
    .filter(([subject]) => subject && !subject.startsWith('Release: '))
    .map(([subject = '', body = '']) => ({ subject, body }));
}

/** Groups the commits of a version by the component that each subject names before its colon. */
export function sectionText(heading: string, commits: readonly Commit[]): string {
  const groups = new Map<string, string[]>();
  const add = (component: string, line: string) => groups.set(component, [...(groups.get(component) ?? []), line]);
  for (const { subject, body } of commits) {
    const [, component = GENERAL, change = subject] = /^([A-Z][\w ,/.-]{0,40}): (.+)$/.exec(subject) ?? [];
    add(component, change);
    for (const [, note] of body.matchAll(/^Breaking: (.+)$/gm)) add(BREAKING, note!);
  }
  const blocks = [...groups]
    .sort(([a], [b]) => Number(b === BREAKING) - Number(a === BREAKING) || (a < b ? -1 : 1))
    .map(([component, lines]) => `### ${component}\n\n${lines.map((line) => `- ${line}`).join('\n')}`);
  return [`## ${heading}`, ...blocks].join('\n\n');
}

/** Parses the sections of the file, newest first; throws an error that names the wrong line. */
export function parseChangelog(text: string): Section[] {
  const [intro, ...sections] = text.split(/^(?=## )/m);
  if (!intro?.startsWith(`${TITLE}\n`)) throw new Error(`${FILE} must start with "${TITLE}".`);
  const parsed = sections.map((section): Section => {
    const [heading = '', ...lines] = section.trimEnd().split('\n');
    const version = HEADING.exec(heading)?.[1];
    if (!version) throw new Error(`"${heading}" in ${FILE} must be like "## 1.2.3 (2026-01-31)".`);
    const wrong = lines.find((line) => !/^(?:|### .+|- .+| {2}.+|[A-Z].+)$/.test(line));
    if (wrong !== undefined) throw new Error(`"${wrong}" under ${version} in ${FILE} is neither a group nor an entry.`);
    return { version, text: section.trimEnd() };
  });
  const unordered = parsed.find(({ version }, i) => i > 0 && byVersion(parsed[i - 1]!.version, version) <= 0);
  if (unordered) throw new Error(`${unordered.version} in ${FILE} must stand above the versions before it.`);
  return parsed;
}

function generated(): string {
  const current = fs.readFileSync(FILE, 'utf8');
  const first = parseChangelog(current).at(-1)!;
  const tagged = taggedVersions().filter((version) => byVersion(version, first.version) >= 0);
  if (tagged.length === 0 && byVersion(about.version, first.version) > 0)
    throw new Error(`The tag v${first.version} is missing; "git fetch --tags" fetches it.`);
  const isReleased = byVersion(about.version, tagged.at(-1) ?? first.version) <= 0;
  const later = tagged.slice(1).map((version, index) => releasedSection(tagged[index]!, version));
  const next = isReleased ? [] : [sectionText(`${about.version} (unreleased)`, commitsIn(rangeSince(tagged.at(-1))))];
  const intro = current.slice(0, current.indexOf('\n## ')).trimEnd();
  const oldest = tagged.length === 0 ? first.text : first.text.replace('(unreleased)', `(${dateOf(first.version)})`);
  return `${[intro, ...next, ...later.reverse(), oldest].join('\n\n')}\n`;
}

const rangeSince = (version: string | undefined) => (version ? `v${version}..HEAD` : 'HEAD');

const dateOf = (version: string) => git('log', '-1', '--format=%cs', `v${version}`);

const releasedSection = (before: string, version: string) =>
  sectionText(`${version} (${dateOf(version)})`, commitsIn(`v${before}..v${version}`));

/** Describes the problem with the file in a sentence; undefined if there is none. */
export function changelogProblem(text: string, version: string): string | undefined {
  try {
    const [newest] = parseChangelog(text);
    if (newest && byVersion(newest.version, version) >= 0) return undefined;
    return `${FILE} has no section for ${version}; "npm run changelog" writes it.`;
  } catch (error) {
    return (error as Error).message;
  }
}

function main(): number {
  const options = { unreleased: { type: 'boolean' }, check: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options });
  if (values.help) console.log(help);
  else if (values.unreleased) console.log(sectionText('unreleased', commitsIn(rangeSince(taggedVersions().at(-1)))));
  else if (values.check) {
    const problem = changelogProblem(fs.readFileSync(FILE, 'utf8'), about.version);
    if (problem) console.error(problem);
    return problem ? 1 : 0;
  } else fs.writeFileSync(FILE, generated());
  return 0;
}

if (import.meta.main) process.exitCode = main();
