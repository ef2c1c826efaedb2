import { type Downward, PATIENCE_MS, type Upward } from '../../platform/runtime/siblings.ts';

/** One process as the supervisor reaches it. */
export interface Member {
  send(message: Downward): void;
}

interface Question {
  readonly waitingFor: Set<Member>;
  readonly done: () => void;
  readonly timer: NodeJS.Timeout;
}

/** Passes changes and metrics between the processes; runs in the supervisor. */
export class SiblingHub<Snapshot> {
  readonly #members = new Set<Member>();
  readonly #questions = new Map<number, Question>();
  readonly #last = new Map<Member, Snapshot>();
  readonly #sum: (snapshots: readonly Snapshot[]) => Snapshot;
  /** What ended processes have counted; without it a counter would fall when a process ends. */
  #ended: Snapshot | undefined;
  #ids = 0;

  constructor(sum: (snapshots: readonly Snapshot[]) => Snapshot) {
    this.#sum = sum;
  }

  join(member: Member): void {
    this.#members.add(member);
  }

  leave(member: Member): void {
    this.#members.delete(member);
    const counted = [this.#ended, this.#last.get(member)].filter((snapshot) => snapshot !== undefined);
    this.#last.delete(member);
    this.#ended = counted.length > 0 ? this.#sum(counted) : undefined;
    for (const id of [...this.#questions.keys()]) this.#answered(id, member);
  }

  receive(from: Member, message: Upward): void {
    if (message.kind === 'applied') this.#answered(message.id, from);
    else if (message.kind === 'final') this.#last.set(from, message.snapshot as Snapshot);
    else if (message.kind === 'snapshot') {
      this.#last.set(from, message.snapshot as Snapshot);
      this.#answered(message.id, from);
    } else if (message.kind === 'collect') {
      this.#askAll(
        [...this.#members],
        (id) => ({ kind: 'report', id }),
        () => from.send({ kind: 'collected', id: message.id, snapshots: this.#snapshots() }),
      );
    } else {
      const { topic, scopes } = message;
      const others = [...this.#members].filter((member) => member !== from);
      this.#askAll(
        others,
        (id) => ({ kind: 'changed', id, topic, scopes }),
        () => from.send({ kind: 'announced', id: message.id }),
      );
    }
  }

  #snapshots(): readonly Snapshot[] {
    return [...this.#last.values(), ...(this.#ended === undefined ? [] : [this.#ended])];
  }

  #askAll(members: readonly Member[], message: (id: number) => Downward, done: () => void): void {
    if (members.length === 0) return void done();
    const id = ++this.#ids;
    const timer = setTimeout(() => this.#finish(id), PATIENCE_MS);
    this.#questions.set(id, { waitingFor: new Set(members), done, timer });
    for (const member of members) member.send(message(id));
  }

  #answered(id: number, member: Member): void {
    const question = this.#questions.get(id);
    if (question?.waitingFor.delete(member) && question.waitingFor.size === 0) this.#finish(id);
  }

  #finish(id: number): void {
    const question = this.#questions.get(id);
    if (!question) return;
    this.#questions.delete(id);
    clearTimeout(question.timer);
    question.done();
  }
}
