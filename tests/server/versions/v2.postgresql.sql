CREATE TABLE attempts (
	id SERIAL NOT NULL, 
	account VARCHAR(64) NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	time DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (id)
)
;;
CREATE INDEX attempts_by_account ON attempts (account, time)
;;
CREATE INDEX attempts_by_address ON attempts (address, time)
;;
CREATE TABLE chain (
	id INTEGER NOT NULL, 
	number BIGINT NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	seal VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id)
)
;;
CREATE TABLE log (
	number BIGINT NOT NULL, 
	time VARCHAR(32) NOT NULL, 
	actor VARCHAR(64) NOT NULL, 
	action VARCHAR(32) NOT NULL, 
	subject VARCHAR(64) NOT NULL, 
	details TEXT NOT NULL, 
	previous VARCHAR(64) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (number)
)
;;
CREATE TABLE meta (
	name VARCHAR(32) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
)
;;
CREATE TABLE releases (
	id VARCHAR(16) NOT NULL, 
	title TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	manifest TEXT NOT NULL, 
	key BYTEA, 
	listed BOOLEAN NOT NULL, 
	created DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (id)
)
;;
CREATE TABLE users (
	id SERIAL NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	role VARCHAR(16) NOT NULL CHECK (role IN ('owner', 'researcher', 'auditor')), 
	password TEXT NOT NULL, 
	active BOOLEAN NOT NULL, 
	created DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
)
;;
CREATE TABLE grants (
	id SERIAL NOT NULL, 
	user_id INTEGER NOT NULL, 
	release_id VARCHAR(16) NOT NULL, 
	daily_limit INTEGER NOT NULL CHECK (daily_limit > 0), 
	expires DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (user_id, release_id), 
	FOREIGN KEY(user_id) REFERENCES users (id), 
	FOREIGN KEY(release_id) REFERENCES releases (id)
)
;;
CREATE TABLE jobs (
	id VARCHAR(16) NOT NULL, 
	title TEXT NOT NULL, 
	format VARCHAR(8) NOT NULL, 
	instance VARCHAR(32) NOT NULL, 
	asked_by INTEGER NOT NULL, 
	state VARCHAR(8) NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')), 
	stage TEXT NOT NULL, 
	share DOUBLE PRECISION NOT NULL, 
	error TEXT, 
	audit TEXT, 
	release_id VARCHAR(16), 
	created DOUBLE PRECISION NOT NULL, 
	ended DOUBLE PRECISION, 
	PRIMARY KEY (id), 
	FOREIGN KEY(asked_by) REFERENCES users (id), 
	FOREIGN KEY(release_id) REFERENCES releases (id)
)
;;
CREATE TABLE sessions (
	digest VARCHAR(64) NOT NULL, 
	user_id INTEGER NOT NULL, 
	expires DOUBLE PRECISION NOT NULL, 
	seen DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(user_id) REFERENCES users (id)
)
;;
CREATE TABLE tokens (
	digest VARCHAR(64) NOT NULL, 
	user_id INTEGER NOT NULL, 
	expires DOUBLE PRECISION NOT NULL, 
	revoked BOOLEAN NOT NULL, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(user_id) REFERENCES users (id)
)
;;
CREATE TABLE answers (
	grant_id INTEGER NOT NULL, 
	day VARCHAR(10) NOT NULL, 
	used INTEGER NOT NULL CHECK (used >= 0), 
	PRIMARY KEY (grant_id, day), 
	FOREIGN KEY(grant_id) REFERENCES grants (id)
)
;;
INSERT INTO chain (id, number, hash, seal) VALUES (1, 10, '3ebe96c8c6b1783d44e5fa7011ddd62f4f92dc5a1d5df9ef0ee91c131aec312d', '231afcbc02d3d094c6bf09c3872284310f383a77e60820dd8209d169af764e18')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (1, '2026-11-19T16:06:39.798166Z', '(command line)', 'add user', 'owner', '{"role":"owner"}', '0000000000000000000000000000000000000000000000000000000000000000', '8c5246e72dc210af138ddb16384197268d1f14858d84a46ac227118183727d81')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (2, '2026-11-19T16:06:39.856650Z', 'owner', 'log in', 'owner', '{"address":"test"}', '8c5246e72dc210af138ddb16384197268d1f14858d84a46ac227118183727d81', 'f0880ca8953255b8e4d446483401fe97d19ebdb1ecd142291e0de7012bb1bee3')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (3, '2026-11-19T16:06:39.873749Z', 'owner', 'add user', 'researcher', '{"role":"researcher"}', 'f0880ca8953255b8e4d446483401fe97d19ebdb1ecd142291e0de7012bb1bee3', 'b6b2821901fe313b94d410facf0e1f04e7921165db90a428de6d8b00267e7cc7')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (4, '2026-11-19T16:06:39.902554Z', 'researcher', 'log in', 'researcher', '{"address":"test"}', 'b6b2821901fe313b94d410facf0e1f04e7921165db90a428de6d8b00267e7cc7', '4466cf1bfdadd1525b0845f5d6540e95fcae8e19629efd624bdc9d0cfdd9092c')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (5, '2026-11-19T16:06:41.153612Z', 'owner', 'publish', '0123456789abcdef', '{"key":true}', '4466cf1bfdadd1525b0845f5d6540e95fcae8e19629efd624bdc9d0cfdd9092c', '1c3c2d423ede4ee4ae8dfc1b07f2f33d7a85dc2719d083ae4f55058eafaadf33')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (6, '2026-11-19T16:06:41.155289Z', 'owner', 'list', '0123456789abcdef', '{}', '1c3c2d423ede4ee4ae8dfc1b07f2f33d7a85dc2719d083ae4f55058eafaadf33', '3bc7feca0ee8be2770618ce5eb0b601a6fbb9185e33a01cb8a99edb505f77a3e')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (7, '2026-11-19T16:06:41.158339Z', 'owner', 'give grant', 'researcher', '{"daily_limit":50,"expires":"2096-10-02T07:06:40.000000Z","release":"0123456789abcdef"}', '3bc7feca0ee8be2770618ce5eb0b601a6fbb9185e33a01cb8a99edb505f77a3e', '1be7200b0399f7b16d17150f5f20f6498b7bef7e6bce33ff5cb0c4ef868f27a4')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (8, '2026-11-19T16:06:41.182724Z', 'researcher', 'interpret', '0123456789abcdef', '{"asked":{"attribute":"insurance","published":"CODE001"},"digest":"e8e618c74eff2662b10935225c148f875b43e496a753977f1b959579dc8c8019","kind":"value","meanings":1}', '1be7200b0399f7b16d17150f5f20f6498b7bef7e6bce33ff5cb0c4ef868f27a4', 'feff9044977812bd47c1aa06e6e7d02a21b28c5f00ec1d3987f2e92787d6b21a')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (9, '2026-11-19T16:06:41.187348Z', 'researcher', 'interpret', '0123456789abcdef', '{"asked":{"rule":"income > 1.1"},"digest":"44e146dd3ab95d425675f0050dbba4e259c88359f665bcd1f9dfc027609d88ef","kind":"rule","meanings":1}', 'feff9044977812bd47c1aa06e6e7d02a21b28c5f00ec1d3987f2e92787d6b21a', '2f8478a5e1d466db245ba875547d2ace9e3a1c10c79fe5525b380d370af18c77')
;;
INSERT INTO log (number, time, actor, action, subject, details, previous, hash) VALUES (10, '2026-11-19T16:06:41.190879Z', 'researcher', 'interpret', '0123456789abcdef', '{"asked":{"names":["insurance"],"rows":[["CODE002"],["CODE001"]]},"digest":"67f63cc703c9a50e1d613b8865901773bf2fa3b78bfcd105202422e8cc9d58cb","kind":"table","meanings":2}', '2f8478a5e1d466db245ba875547d2ace9e3a1c10c79fe5525b380d370af18c77', '3ebe96c8c6b1783d44e5fa7011ddd62f4f92dc5a1d5df9ef0ee91c131aec312d')
;;
INSERT INTO meta (name, value) VALUES ('schema', '2')
;;
INSERT INTO meta (name, value) VALUES ('secret', '9b89f49822e2bac20ed4c68edf6fae0c99ab59e91f382e0cbecf9d7972cf4c66')
;;
INSERT INTO releases (id, title, folder, manifest, key, listed, created) VALUES ('0123456789abcdef', 'A release', 'releases/0123456789abcdef', '{"format": "manyveils-release/1", "method": "generalize", "rows": 12, "suppressed": 0, "promises": [{"kind": "k-anonymity", "parameters": {"k": 2}}, {"kind": "distinct-l-diversity", "parameters": {"l": 2}, "attribute": "insurance"}], "views": [{"name": "main", "bucketed": false, "rows": 12, "columns": [{"attributes": ["age", "insurance", "income"], "file": "tables/main.csv", "types": {"age": "text", "insurance": "text", "income": "number"}}], "enforces": null}], "recodings": [{"view": "main", "attribute": "age", "file": "recodings/main.age.csv"}], "kinds": {"age": "numeric", "insurance": "categorical", "income": "numeric"}}', decode('01a0c44e213685ca470611cd2320cedbd521e3c31ad9d1dcc81e2fcb9b8280c1344562b7296572efb073b8f3eb1cb7721ef45d2b2af53c3900e18d75efda5f12786df280ad2e9d200d8ce1af194b0fc93831b5fb2993debf24a16576fd9894d0570e8e45a9550bb25ff27bc7233cc65afc1e2eb69abea541351e70d2b57c5a8fd19a06e0e772f9581f382fed17c4c8b088f3e94f45549b96175012b567a88147c81c25b17ffc8184cf21e514df5f0ce8485f4dc295ebf7100e5eaf4e563439ded102f6fdfe8ed0903a307360c25ff8f17504de1d606b3b63806ef560835061489d5ab1a2c0dcaf20f3f062c1f2cc43c8a6240c327bc4a46775768304165fe8b4e0276f49dde9bf5bf80a56822ce95998bbc14c71f0b1eab3f1dd8650bbb8daf509291bde51a5ae030752527d85f38e5218387e95ef9cd835e33d7ecf864434863be97c12bc0a8996470dbe029cfa67bdcaba9249f6db7279d972a8786d809ab71719ede11197009b8acb08e270196e2042a445ad7937f4', 'hex'), true, 1795104401.1522427)
;;
INSERT INTO users (id, name, role, password, active, created) VALUES (1, 'owner', 'owner', '$argon2id$v=19$m=1024,t=1,p=1$L3MxJgNfcPabpoY7rmz6Qg$shlT5ujN5TqlrJOEm0QM+FQqcxsXFqC9rIaQq43fdiU', true, 1795104399.7821355)
;;
INSERT INTO users (id, name, role, password, active, created) VALUES (2, 'researcher', 'researcher', '$argon2id$v=19$m=1024,t=1,p=1$qM3QlxcRn1BUCQI7Wxx+cw$oJJg893gXJj2Ce7T6fgh0Q7Jm8D6mtADgRAeLiIzxds', true, 1795104399.8676147)
;;
INSERT INTO grants (id, user_id, release_id, daily_limit, expires) VALUES (1, 2, '0123456789abcdef', 50, 4000000000.0)
;;
INSERT INTO answers (grant_id, day, used) VALUES (1, '2026-11-19', 4)
;;
SELECT setval(pg_get_serial_sequence('users', 'id'), 100)
;;
SELECT setval(pg_get_serial_sequence('grants', 'id'), 100)
