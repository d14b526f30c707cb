/** Check-in files are read and edited in place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { editCheckIn, parseCheckIn } from '../../../src/text/config/check-in.js';

const SEED = `last_checkin: "2025-10-05T08:02:04.076Z"
interval_seconds: 60
planner_session: planner-001-abc123.session.yaml
checkin_count: 3
last_reason: "65s since last check-in (threshold: 60s)"
`;
const NOTE = {
  lastCheckin: '2025-10-05T08:02:04.076Z',
  intervalSeconds: 60,
  plannerSession: 'planner-001-abc123.session.yaml',
  count: 3,
  lastReason: '65s since last check-in (threshold: 60s)',
};

test('the documented file is read and written back unchanged', () => {
  assert.deepEqual(parseCheckIn(SEED, 'f'), { note: NOTE });
  assert.equal(editCheckIn(SEED, NOTE), SEED);
  assert.equal(editCheckIn('', NOTE), SEED);
});

test('an edit keeps comments, order, line ends and unknown keys', () => {
  const text =
    "# ours\r\nwho: sarah # boss\r\ncheckin_count: 1   # so far\r\nlast_reason: 'none' # why\r\ninterval_seconds: 60\r\n";
  assert.equal(
    editCheckIn(text, { ...NOTE, count: 2, lastReason: 'a # b' }),
    '# ours\r\nwho: sarah # boss\r\ncheckin_count: 2   # so far\r\nlast_reason: "a # b" # why\r\ninterval_seconds: 60\r\n' +
      'last_checkin: "2025-10-05T08:02:04.076Z"\r\nplanner_session: planner-001-abc123.session.yaml\r\n',
  );
});

test('a file that cannot be edited in place is refused', () => {
  assert.equal(editCheckIn('last_reason: |\n  two\n  lines\n', NOTE), undefined);
  assert.equal(editCheckIn('{interval_seconds: 60}\n', NOTE), undefined);
});

test('any reason reads back', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(1e6), (lastReason, count) => {
      const note = { ...NOTE, lastReason, count };
      const text = editCheckIn(SEED, note);
      assert.deepEqual(text === undefined ? { note } : parseCheckIn(text, 'f'), { note });
    }),
  );
});
