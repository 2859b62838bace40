BEGIN TRANSACTION;
CREATE TABLE marks (
            repository TEXT NOT NULL,
            change_id TEXT NOT NULL,
            marked_at TEXT NOT NULL,
            findings TEXT,
            PRIMARY KEY (repository, change_id)
        ) WITHOUT ROWID
        ;
INSERT INTO "marks" VALUES('here','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','2026-11-28T15:00:49+00:00','LK003');
INSERT INTO "marks" VALUES('here','finding:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','2026-11-28T15:00:49+00:00','');
INSERT INTO "marks" VALUES('there','cccccccccccccccccccccccccccccccc','2026-11-28T15:00:49+00:00','');
COMMIT;
PRAGMA user_version = 2;
